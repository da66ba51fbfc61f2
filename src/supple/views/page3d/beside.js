// Two pages beside each other: what the eye, the mode and the time do in one of them, they do in the other.
(() => {
  const frames = [...document.querySelectorAll("iframe")];
  let leader = 0;
  const pages = () => frames.map((frame) => frame.contentWindow?.supple).filter(Boolean);
  const follow = () => {
    const both = pages();
    if (both.length === 2) {
      both.forEach((page, k) => {
        if (!page.linked) {
          page.linked = true;
          for (const kind of ["pointerdown", "keydown", "wheel", "input"]) frames[k].contentDocument.addEventListener(kind, () => (leader = k), true);
        }
      });
      const [from, to] = [both[leader], both[1 - leader]];
      const far = from.camera.distance / from.size;
      if (to.camera.yaw !== from.camera.yaw || to.camera.pitch !== from.camera.pitch || Math.abs(to.camera.distance / to.size - far) > 1e-9) {
        Object.assign(to.camera, { yaw: from.camera.yaw, pitch: from.camera.pitch, distance: far * to.size });
        to.stale = true;
      }
      if (to.choice.tab !== from.choice.tab && to[from.choice.tab]) to.pick(from.choice.tab);
      if (to.choice.playing !== from.choice.playing) to.play(from.choice.playing);
      if (from.modes && to.modes) {
        if (to.choice.mode !== Math.min(from.choice.mode, to.modes.moves.length - 1)) to.modes.choose(Math.min(from.choice.mode, to.modes.moves.length - 1));
        to.modes.phase = from.modes.phase;
      }
      if (from.motion && to.motion) to.motion.go(from.choice.time);
    }
    requestAnimationFrame(follow);
  };
  requestAnimationFrame(follow);
})();

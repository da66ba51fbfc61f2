// A line plot over time with a cursor.

const shortNumber = (x) => (x === 0 ? "0" : Math.abs(x) >= 1e4 || Math.abs(x) < 1e-3 ? x.toExponential(2) : String(+x.toPrecision(4)));

// Round numbers between two ends, about so many.
function ticks(low, high, about) {
  const rough = (high - low) / about, power = 10 ** Math.floor(Math.log10(rough));
  const step = power * [1, 2, 5, 10].find((k) => k * power >= rough);
  const made = [];
  for (let x = Math.ceil(low / step) * step; x <= high + 1e-9 * step; x += step) made.push(Math.abs(x) < 1e-9 * step ? 0 : x);
  return made;
}

function drawPlot(canvas, time, series, now) {
  const ratio = window.devicePixelRatio || 1, width = canvas.clientWidth, height = canvas.clientHeight;
  if (canvas.width !== Math.round(width * ratio)) canvas.width = Math.round(width * ratio);
  if (canvas.height !== Math.round(height * ratio)) canvas.height = Math.round(height * ratio);
  const pen = canvas.getContext("2d"), colours = getComputedStyle(document.documentElement);
  pen.setTransform(ratio, 0, 0, ratio, 0, 0);
  pen.clearRect(0, 0, width, height);
  let low = Infinity, high = -Infinity;
  for (const values of series) for (const y of values) if (Number.isFinite(y)) [low, high] = [Math.min(low, y), Math.max(high, y)];
  if (!(low <= high)) return;
  const room = (high - low) * 0.06 || Math.abs(high) * 0.1 || 1;
  [low, high] = [low - room, high + room];
  const first = time[0], last = time[time.length - 1], left = 46, right = width - 6, top = 6, bottom = height - 18;
  const x = (t) => left + ((t - first) / (last - first || 1)) * (right - left);
  const y = (v) => bottom - ((v - low) / (high - low)) * (bottom - top);
  pen.font = "10px system-ui, sans-serif";
  pen.fillStyle = colours.getPropertyValue("--soft");
  pen.strokeStyle = colours.getPropertyValue("--line");
  pen.lineWidth = 1;
  pen.textAlign = "right";
  for (const v of ticks(low, high, 4)) {
    pen.beginPath(); pen.moveTo(left, y(v)); pen.lineTo(right, y(v)); pen.stroke();
    pen.fillText(shortNumber(v), left - 4, y(v) + 3);
  }
  pen.textAlign = "center";
  for (const t of ticks(first, last, 4)) pen.fillText(shortNumber(t), clamp(x(t), left + 6, right - 10), height - 5);
  const lines = [colours.getPropertyValue("--fill"), colours.getPropertyValue("--accent"), "#3f9c6b", "#a35bc7", "#b8902a", "#4bb0b8"];
  series.forEach((values, k) => {
    pen.strokeStyle = lines[k % lines.length];
    pen.lineWidth = 1.4;
    pen.beginPath();
    values.forEach((v, i) => (Number.isFinite(v) ? pen.lineTo(x(time[i]), y(v)) : null));
    pen.stroke();
  });
  if (Number.isFinite(now)) {
    pen.strokeStyle = colours.getPropertyValue("--ink");
    pen.beginPath(); pen.moveTo(x(now), top); pen.lineTo(x(now), bottom); pen.stroke();
  }
  return (px) => first + clamp((px - left) / (right - left), 0, 1) * (last - first);
}

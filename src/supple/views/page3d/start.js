// The beginning: data from the file, words where the browser cannot draw.

function begin() {
  const data = JSON.parse($("scene").textContent);
  try {
    window.supple = new Page(data);
  } catch (problem) {
    $("caption").textContent = `${data.robot}: this browser cannot draw the robot (${problem.message}). Another one, or hardware acceleration in its settings, may.`;
    throw problem;
  }
}

begin();

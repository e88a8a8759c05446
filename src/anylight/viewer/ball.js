// A ball that shows where the lamp is.
export function drawBall(ball, [x, y, z], dimmed) {
  const pen = ball.getContext("2d");
  const half = ball.width / 2;
  const bright = dimmed ? 90 : 235;
  pen.clearRect(0, 0, ball.width, ball.height);
  const glow = pen.createRadialGradient(
    half + 0.62 * x * half, half - 0.62 * y * half, 2, half, half, half);
  glow.addColorStop(0, `rgb(${bright},${bright - 4},${bright - 14})`);
  glow.addColorStop(0.35 + 0.3 * z, "rgb(86,87,90)");
  glow.addColorStop(1, "rgb(30,31,33)");
  pen.fillStyle = glow;
  pen.beginPath();
  pen.arc(half, half, half - 3, 0, 2 * Math.PI);
  pen.fill();
  pen.strokeStyle = "rgb(120,121,124)";
  pen.lineWidth = 2;
  pen.stroke();
  pen.fillStyle = "rgb(224,164,88)";
  pen.beginPath();
  pen.arc(half + x * (half - 12), half - y * (half - 12), 9, 0, 2 * Math.PI);
  pen.fill();
}

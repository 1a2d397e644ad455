// Strokes of a drawing, in parts of the pad's side, and how they are painted. Painting is the same
// on the screen and for the model; only the size differs.

export interface Point {
  readonly x: number;
  readonly y: number;
}

export type Stroke = readonly Point[];

/** Black ink on white ground or the other way round, whatever the page's theme is. */
export interface Inks {
  readonly ink: string;
  readonly ground: string;
}

export const DARK_ON_LIGHT: Inks = { ink: '#000000', ground: '#ffffff' };
export const LIGHT_ON_DARK: Inks = { ink: '#ffffff', ground: '#000000' };

// A digit that fills two thirds of the pad then has strokes of 2 of 20 parts, as people's have in MNIST.
const WIDTH = 0.064;

type Context = CanvasRenderingContext2D | OffscreenCanvasRenderingContext2D;

/** Paint the whole drawing on a square of `side` pixels. */
export function paint(context: Context, strokes: readonly Stroke[], side: number, inks: Inks): void {
  context.fillStyle = inks.ground;
  context.fillRect(0, 0, side, side);
  context.strokeStyle = inks.ink;
  context.lineWidth = WIDTH * side;
  context.lineCap = 'round';
  context.lineJoin = 'round';
  for (const stroke of strokes) {
    context.beginPath();
    trace(context, stroke, side);
    context.stroke();
  }
}

/** Curves through the middles of neighbouring points: smooth, and never off the hand's path. */
function trace(context: Context, stroke: Stroke, side: number): void {
  const [first, ...others] = stroke;
  if (first === undefined) return;
  context.moveTo(first.x * side, first.y * side);
  let last = first;
  for (const point of others) {
    const [x, y] = [(last.x + point.x) / 2, (last.y + point.y) / 2];
    context.quadraticCurveTo(last.x * side, last.y * side, x * side, y * side);
    last = point;
  }
  // A dot is a line that goes nowhere, and canvas paints none of those: it gets a hair's breadth.
  context.lineTo(last.x * side + (others.length === 0 ? 0.01 : 0), last.y * side);
}

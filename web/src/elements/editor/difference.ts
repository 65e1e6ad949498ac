/** The smallest replacement that makes one text of another, so that the caret stays. */
export function difference(from: string, to: string): { readonly from: number; readonly to: number; readonly insert: string } {
  let start = 0;
  while (start < from.length && start < to.length && from[start] === to[start]) {
    start++;
  }
  let [end, stop] = [from.length, to.length];
  while (end > start && stop > start && from[end - 1] === to[stop - 1]) {
    end--;
    stop--;
  }
  return { from: start, to: end, insert: to.slice(start, stop) };
}

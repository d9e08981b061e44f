// Small ways to touch the document. Text goes in as text only, so no name can become markup.

export const byId = (id) => document.getElementById(id);

/** An element with attributes (or a class) and children. */
export function el(tag, attributes = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== null && value !== undefined) {
      node.setAttribute(name, value);
    }
  }
  node.append(...children);
  return node;
}

/** Sets text only where it differs, so that selections and screen readers are left in peace. */
export function setText(node, text) {
  if (node.textContent !== text) {
    node.textContent = text;
  }
}

/** Replaces children only where the description of what they show changed. */
export function setChildren(node, key, make) {
  if (node.dataset.key !== key) {
    node.dataset.key = key;
    node.replaceChildren(...make());
  }
}

export function show(node, visible) {
  node.hidden = !visible;
}

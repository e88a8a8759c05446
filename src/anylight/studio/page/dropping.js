// Files of what was dropped: photos, or a folder with them (one level deep).
const entriesOf = (reader) => new Promise((done, failed) => reader.readEntries(done, failed));
const fileOf = (entry) => new Promise((done, failed) => entry.file(done, failed));

async function inside(folder) {
  const reader = folder.createReader();
  const found = [];
  for (;;) {
    const some = await entriesOf(reader);
    if (!some.length) return found;
    found.push(...some);
  }
}

export async function droppedFiles(transfer) {
  const entries = [...transfer.items].map((item) => item.webkitGetAsEntry && item.webkitGetAsEntry());
  const files = [];
  let title = "";
  for (const entry of entries.filter(Boolean)) {
    if (entry.isDirectory) {
      title = entry.name;
      for (const child of await inside(entry)) {
        if (child.isFile && !child.name.startsWith(".")) files.push([child.name, await fileOf(child)]);
      }
    } else files.push([entry.name, await fileOf(entry)]);
  }
  if (!entries.length) for (const file of transfer.files) files.push([file.name, file]);
  return { files, title };
}

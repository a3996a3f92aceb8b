// Writes what xterm.js shows after each recording of this folder, which screen/xterm_test.go
// compares. Needs npm install @xterm/headless@6.0.0 @xterm/addon-unicode11@0.9.0 in this folder.
import fs from 'node:fs';
import headless from '@xterm/headless';
import unicode11 from '@xterm/addon-unicode11';

for (const name of fs.readdirSync('.').filter((name) => /\.\d+x\d+$/.test(name))) {
  const [cols, rows] = name.split('.').pop().split('x').map(Number);
  const terminal = new headless.Terminal({allowProposedApi: true, cols, rows, scrollback: 2000});
  terminal.loadAddon(new unicode11.Unicode11Addon());
  terminal.unicode.activeVersion = '11';
  terminal.write(fs.readFileSync(name), () => {
    const buffer = terminal.buffer.active;
    const lines = [];
    for (let y = 0; y < buffer.length; y++) {
      lines.push(buffer.getLine(y).translateToString(true).trimEnd());
    }
    lines.push(`cursor ${Math.min(buffer.cursorX, cols - 1)} ${buffer.cursorY}`);
    fs.writeFileSync(name + '.txt', lines.join('\n') + '\n');
  });
}

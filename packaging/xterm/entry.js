export { Terminal } from '@xterm/xterm';
export { FitAddon } from '@xterm/addon-fit';
export { UnicodeGraphemesAddon } from '@xterm/addon-unicode-graphemes';
export { WebLinksAddon } from '@xterm/addon-web-links';

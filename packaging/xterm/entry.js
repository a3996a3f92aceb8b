export { Terminal } from '@xterm/xterm';
export { FitAddon } from '@xterm/addon-fit';
export { Unicode11Addon } from '@xterm/addon-unicode11';
export { WebLinksAddon } from '@xterm/addon-web-links';

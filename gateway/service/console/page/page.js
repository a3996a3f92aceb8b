// The page of a terminal: it shows what a program prints, and sends what the visitor types. The frames
// are those of gateway/protocol/terminal.go, with one more: the page acknowledges what it has shown.
import { FitAddon, Terminal, Unicode11Addon, WebLinksAddon } from './xterm.js';

// The page's policy allows style elements only with its nonce, and no style attributes. xterm.js makes
// both.
const nonce = document.querySelector('script[nonce]').nonce;
const { createElement } = Document.prototype;
Document.prototype.createElement = function (name, ...rest) {
	const element = createElement.call(this, name, ...rest);
	if (element instanceof HTMLStyleElement) element.nonce = nonce;
	return element;
};
const { setAttribute } = Element.prototype;
Element.prototype.setAttribute = function (name, value) {
	if (name === 'style') this.style.cssText = value;
	else setAttribute.call(this, name, value);
};

const byID = (id) => document.getElementById(id);
const serviceTitle = byID('title').textContent;
const isTouch = matchMedia('(pointer: coarse)');
const isDark = matchMedia('(prefers-color-scheme: dark)');

const fontSize = () => (isTouch.matches && innerWidth < 600 ? 12 : 14);
const minFontSize = 7; // of a screen that is scaled to a smaller window

const themes = {
	dark: { background: '#16181c', foreground: '#e6e6e8', cursor: '#e6e6e8', cursorAccent: '#16181c', selectionBackground: '#3b7de080' },
	light: { background: '#ffffff', foreground: '#1c1c1e', cursor: '#1c1c1e', cursorAccent: '#ffffff', selectionBackground: '#1d5fc440' },
};
const theme = () => themes[isDark.matches ? 'dark' : 'light'];

const open = (uri) => window.open(uri, '_blank', 'noopener,noreferrer');
const term = new Terminal({
	allowProposedApi: true, // for the widths of characters
	cursorBlink: false, fontSize: fontSize(), minimumContrastRatio: 4.5, scrollback: 2000, theme: theme(), disableStdin: true,
	fontFamily: 'ui-monospace, "SF Mono", Menlo, "Cascadia Mono", "DejaVu Sans Mono", Consolas, monospace',
});
const fit = new FitAddon();
term.loadAddon(fit);
term.loadAddon(new Unicode11Addon());
term.unicode.activeVersion = '11'; // so does the machine count
term.loadAddon(new WebLinksAddon((_, uri) => open(uri)));
term.open(byID('screen'));
isDark.addEventListener('change', () => (term.options.theme = theme()));

const ackEvery = 128 << 10; // bytes; the gateway sends at most 1 MiB that is not acknowledged
const maxInput = 64 << 10; // bytes in a frame

let socket;
let state = {}; // a TerminalState
let end; // a TerminalEnd, after the last frame
let lost = ''; // why there is no connection
let asked = false; // this visitor has asked to take over
let hasScreen = false; // a snapshot has come
let fitted = ''; // for which the screen was laid out
let isScaled = false;
let pause = 0; // milliseconds before the next attempt to connect

// connect shows the terminal until the connection ends, and then tries again.
function connect() {
	const s = new WebSocket(location.origin.replace(/^http/, 'ws') + '/.fairlead/terminal');
	s.binaryType = 'arraybuffer';
	socket = s;
	end = undefined;
	hasScreen = false;
	let shown = 0, acknowledged = 0, work = Promise.resolve();
	const show = (bytes) => {
		const size = bytes.length + 1;
		term.write(bytes, () => {
			shown += size;
			if (shown - acknowledged >= ackEvery) {
				acknowledged = shown;
				send('w', String(shown), s);
			}
		});
	};
	s.onmessage = ({ data }) => {
		work = work.then(() => take(String.fromCharCode(new Uint8Array(data, 0, 1)[0]), new Uint8Array(data, 1), show));
	};
	s.onopen = () => sendSize(proposeSize()); // in case this visitor types at once
	s.onclose = async ({ code, reason }) => {
		await work;
		if (socket !== s) return;
		state = { ...state, typing: false, request: '' };
		if (!end) {
			lost = code === 4503 ? reason : lost || 'Connection lost. Trying again…';
			pause = Math.min(pause ? 2 * pause : 500, 5000);
			setTimeout(reconnect, pause);
		}
		draw();
	};
}

// reconnect connects again, or shows what the gateway shows to visitors who may not see the terminal now.
async function reconnect() {
	try {
		const answer = await fetch(location.href, { headers: { Accept: 'text/html' }, cache: 'no-store' });
		if (!answer.ok) return location.reload();
	} catch {
		pause = Math.min(2 * pause, 5000);
		setTimeout(reconnect, pause);
		return;
	}
	connect();
}

const flushed = () => new Promise((done) => term.write('', done));

// take carries out a frame.
async function take(kind, body, show) {
	switch (kind) {
		case 's':
			await flushed();
			term.reset();
			term.resize(state.cols, state.rows);
			show(body);
			await flushed();
			hasScreen = true;
			layOut(true);
			draw();
			break;
		case 'o':
			show(body);
			break;
		case 'n':
			await takeState(JSON.parse(new TextDecoder().decode(body)));
			break;
		case 'e':
			end = JSON.parse(new TextDecoder().decode(body));
			if (end.lost) { // only the view; the page connects again
				lost = end.error;
				end = undefined;
			}
			state = { ...state, typing: false };
			term.options.disableStdin = true;
			draw();
	}
}

async function takeState(next) {
	const began = next.typing && !state.typing;
	if (next.typing || (asked && state.request && !next.request)) asked = false;
	state = next;
	lost = '';
	pause = 0;
	term.options.disableStdin = !state.typing;
	if (began && !isTouch.matches) term.focus();
	if (!state.typing && (term.cols !== state.cols || term.rows !== state.rows)) {
		await flushed(); // what was printed before was for the old size
	}
	layOut();
	draw();
}

// proposeSize returns the size that fits into the window, within the limits of a terminal.
function proposeSize() {
	const room = fit.proposeDimensions();
	return room && room.cols && { cols: Math.min(room.cols, 500), rows: Math.min(room.rows, 300) };
}

// layOut gives the terminal of the typist the size of the window. Others scale theirs to the window.
function layOut(anew) {
	if (!hasScreen) return;
	const key = [innerWidth, byID('frame').clientWidth, byID('frame').clientHeight, state.typing, state.cols, state.rows].join();
	if (key === fitted && !anew) return;
	fitted = key;
	term.options.fontSize = fontSize();
	let room = proposeSize();
	if (!room) return;
	isScaled = false;
	if (state.typing) {
		byID('frame').classList.remove('scrolls');
		term.resize(room.cols, room.rows);
		if (room.cols !== state.cols || room.rows !== state.rows) sendSize(room);
		return;
	}
	sendSize(room); // for the time when this visitor types
	const scale = Math.min(room.cols / state.cols, room.rows / state.rows);
	if (scale < 1) {
		isScaled = true;
		term.options.fontSize = Math.max(minFontSize, Math.floor(2 * fontSize() * scale) / 2);
		room = proposeSize();
	}
	byID('frame').classList.toggle('scrolls', room.cols < state.cols || room.rows < state.rows);
	term.resize(state.cols, state.rows);
}

function send(kind, body = '', to = socket) {
	if (!to || to.readyState !== WebSocket.OPEN) return;
	const bytes = typeof body === 'string' ? new TextEncoder().encode(body) : body;
	const frame = new Uint8Array(bytes.length + 1);
	frame[0] = kind.charCodeAt(0);
	frame.set(bytes, 1);
	to.send(frame);
}

const sendSize = (size) => size && send('r', JSON.stringify(size));

function sendInput(bytes) {
	for (let i = 0; i < bytes.length; i += maxInput) send('i', bytes.subarray(i, i + maxInput));
}

// draw shows the state beside the screen.
function draw() {
	document.title = state.title ? `${serviceTitle}: ${state.title}` : serviceTitle;
	byID('program').textContent = state.title || '';
	const [text, warn, ...actions] = words();
	byID('status').textContent = text;
	byID('status').classList.toggle('warn', warn);
	byID('actions').replaceChildren(...actions);
}

// words returns the text of the state, whether it needs attention, and the buttons.
function words() {
	const viewers = state.viewers > 1 ? ` ${state.viewers} people are here.` : '';
	const takeOver = (text) => button(text, true, () => {
		asked = !!state.typist;
		send('t');
		draw();
	});
	const answer = (text, allow) => button(text, allow, () => send('a', JSON.stringify({ allow })));
	if (end) return [endText(), true, button('Start again', true, startAgain)];
	if (lost) return [lost, true];
	if (!state.cols) return ['Connecting…', false];
	if (state.offline) return ['The computer is offline. Trying again…', true];
	if (state.typing && state.request) return [`${state.request} asks to take over.`, true, answer('Allow', true), answer('Deny', false)];
	if (state.typing) {
		const others = state.viewers > 1 ? [button('Give back', false, () => send('g'))] : [];
		return [`You type.${viewers}`, false, ...others];
	}
	const size = byID('frame').classList.contains('scrolls') ? ' The screen is larger than your window: scroll to see all of it.'
		: isScaled ? ' Your window is smaller than the screen, which is scaled down.' : '';
	if (state.watchOnly) return [`You can only watch.${viewers}${size}`, false];
	if (!state.typist) return [`Nobody types.${viewers}${size}`, false, takeOver('Type')];
	if (asked) return [`You have asked ${state.typist} to let you type.${size}`, false];
	return [`${state.typist} types.${viewers}${size}`, false, takeOver('Take over')];
}

function endText() {
	if (end.error) return end.error;
	return end.exitCode === undefined ? 'The program was ended.' : `The program has ended with exit code ${end.exitCode}.`;
}

function startAgain() {
	end = undefined;
	state = {};
	draw();
	reconnect();
}

function button(text, primary, press) {
	const b = document.createElement('button');
	b.textContent = text;
	b.classList.toggle('primary', primary);
	b.onclick = () => {
		press();
		if (!isTouch.matches) term.focus();
	};
	return b;
}

// The keys below the screen, for keyboards without them. Ctrl is for the next key.
const control = document.querySelector('[data-key=control]');
const setControl = (on) => control.setAttribute('aria-pressed', on);
const hasControl = () => control.getAttribute('aria-pressed') === 'true';
const arrows = { up: 'A', down: 'B', right: 'C', left: 'D' };

function pressKey(key) {
	if (key === 'control') return setControl(!hasControl());
	const arrow = arrows[key];
	if (key === 'escape') type('\x1b');
	else if (key === 'tab') type('\t');
	else if (hasControl()) type(`\x1b[1;5${arrow}`);
	else type((term.modes.applicationCursorKeysMode ? '\x1bO' : '\x1b[') + arrow);
	setControl(false);
}

function type(text) {
	if (state.typing) {
		term.scrollToBottom();
		sendInput(new TextEncoder().encode(text));
	}
}

for (const b of document.querySelectorAll('#keys button')) {
	b.addEventListener('pointerdown', (e) => e.preventDefault()); // the screen keeps the keyboard
	b.addEventListener('click', () => pressKey(b.dataset.key));
}

term.onData((text) => {
	if (hasControl() && /^[@-_a-z ]$/.test(text)) text = String.fromCharCode(text.toUpperCase().charCodeAt(0) & 0x1f);
	setControl(false);
	type(text);
});
term.onBinary((text) => state.typing && sendInput(Uint8Array.from(text, (c) => c.charCodeAt(0))));

// Ctrl+Shift+C copies, and so does Ctrl+C while text is selected; Ctrl+Shift+V pastes. Alone, Ctrl+C and
// Ctrl+V are for the program.
term.attachCustomKeyEventHandler((e) => {
	if (!e.ctrlKey || e.altKey || e.metaKey) return true;
	const isCopy = e.code === 'KeyC' && (e.shiftKey || term.hasSelection());
	if (isCopy && e.type === 'keydown') {
		e.preventDefault(); // the browser's own use of Ctrl+Shift+C
		document.execCommand('copy'); // xterm.js gives it the selection
		term.clearSelection();
	}
	return !isCopy && !(e.code === 'KeyV' && e.shiftKey);
});

// A keyboard on the screen leaves less room than the window has.
function resize() {
	if (window.visualViewport) document.body.style.height = `${visualViewport.height}px`;
	layOut();
	draw();
}
window.visualViewport?.addEventListener('resize', resize);
new ResizeObserver(resize).observe(byID('frame'));

connect();

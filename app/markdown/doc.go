// Package markdown shows Markdown that may still be growing, as a model writes it.
//
// Goldmark parses it; the text is drawn here instead of by Fyne's RichText for three reasons. A
// selection must span several messages. A chat must scroll without dropping frames, which one
// picture per text allows and one widget per word does not. Right-to-left text must follow UAX 9,
// which Fyne does not support; package typeset lays it out.
package markdown

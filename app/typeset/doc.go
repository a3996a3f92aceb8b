// Package typeset lays out text in lines and draws it into pictures. Compared to Fyne's text it
// adds: a paragraph with several styles as one picture, drawn from cached glyphs; line breaking by
// the rules of each script (UAX 14); right-to-left text (UAX 9); and conversion between positions
// in the picture and in the text.
//
// Sizes are in Fyne's units; scale is the number of pixels per unit. Everything here belongs to the
// GUI thread.
package typeset

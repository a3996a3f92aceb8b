// Package typeset lays text out in lines and draws it into pictures. It does what the toolkit's texts do not: a whole paragraph in several
// styles is one picture, drawn from letters that are kept; lines break after the rules of each script (UAX 14), what is written from the
// right stands in its right order, and a place in the picture can be turned into a place in the text and back.
//
// Sizes are the toolkit's units; pictures have scale pixels in each. Everything here belongs to the GUI thread.
package typeset

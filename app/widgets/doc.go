// Package widgets holds what Fairlead's windows are made of. A widget shows what it is given and calls back; it knows no
// gateway, starts no goroutine and touches no disk. Everything here belongs to the GUI thread.
//
// Two things are done otherwise than Fyne's own widgets do, both for long transcripts: [Transcript] keeps only the rows on the
// screen and never asks for a refresh of all of them, and [Code] draws one text object for each run of one colour in the lines
// on the screen, where a label would lay out everything.
package widgets

// Package widgets contains the widgets of Fairlead's windows. A widget shows data and calls
// callbacks; it does not know the gateway, starts no goroutines and does not access the disk.
// Everything here belongs to the GUI thread.
//
// Two widgets differ from Fyne's own to support long transcripts: [Transcript] creates only the
// visible rows and never refreshes all of them, and [Code] draws only the visible lines, whereas a
// label would lay out the whole text.
package widgets

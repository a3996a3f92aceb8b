// Package widgets contains the small, general widgets and layouts of Fairlead's windows. A widget
// shows data and calls callbacks; it does not know the gateway, starts no goroutines and does not
// access the disk. Everything here belongs to the GUI thread.
package widgets

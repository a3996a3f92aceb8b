// Package inbox shows the questions that wait for the person: as a page with all of them, as cards on
// the pages about their subjects, and in a dialog. What questions say, and what those of a kind have in
// common, is in package question.
//
// In the dialog, Deny has the focus, and Escape and closing the window deny a call, decline the
// question of a server and postpone the others. Allow is enabled only after the person has seen the
// whole question ([question.Arming]), and the Enter key never allows. A question that was answered
// elsewhere shows that and closes.
package inbox

// Package approve is the approval dialog and the page of pending approvals. The dialog shows a tool
// call, where it would run and why it needs an approval, and takes the person's answer.
//
// Deny has the focus, and Escape and closing the window deny. Allow is enabled only after the
// person has seen the whole question ([state.Arming]), and the Enter key never allows. An approval
// that was answered elsewhere shows that and closes.
package approve

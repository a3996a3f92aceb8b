// Package watch reports changes in folders of a workspace and, on request, in the trees below them:
// by inotify on Linux and by one handle per tree on Windows. Elsewhere it polls the trees, which is
// slower and costs a little all the time.
package watch

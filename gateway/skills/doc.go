// Package skills finds the agents' skills: folders with a SKILL.md, in the agent's own workspace,
// in the folder that all agents share, and built in. It reads the open Agent Skills format and the
// original system's front matter, and decides which skills an online machine can carry out: by its
// capabilities and its operating system, and by its programs and environment variables if it
// reports their names. It reads no files itself: package workspace does, and reports changes.
package skills

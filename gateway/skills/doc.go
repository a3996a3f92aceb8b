// Package skills finds what agents were taught: folders with a SKILL.md, in the agent's own workspace, in the folder that all agents share,
// and built in. It reads the open Agent Skills format and the original's front matter alike, and says which skills a machine that is online
// can carry out: by its capabilities and its system, and by its programs and environment variables where it tells their names. It reads no file itself: the workspace does, and
// tells when one changed.
package skills

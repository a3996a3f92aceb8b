package shell

import (
	"slices"
	"testing"
)

func TestRefusedPathsAreNamed(t *testing.T) {
	protected := []string{"/ws/.envrc", "/ws/.git/config", "/ws/.git/hooks", "/ws/packages/a/.npmrc", "/granted/.envrc"}
	for output, want := range map[string][]string{
		"sh: 1: cannot create .envrc: Read-only file system":                         {".envrc"},
		"sh: cannot create /ws/.envrc: Read-only file system":                        {".envrc"},
		"error: could not write config file .git/config: Device or resource busy":    {".git/config"},
		"mv: cannot move '.git' to 'g': Device or resource busy":                     {".git"},
		"fatal: renaming 'packages/a/x' failed: Invalid cross-device link":           {"packages/a"},
		"Error: EROFS: read-only file system, open '/granted/.envrc'":                {"/granted/.envrc"},
		"cannot create my.envrc: Read-only file system":                              nil,
		"cannot create .envrc: Permission denied":                                    nil,
		"a .envrc\nx: Read-only file system":                                         nil,
		"rm: .envrc: Read-only file system\nrm: .git/hooks/x: Read-only file system": {".envrc", ".git/hooks"},
	} {
		t.Run(output, func(t *testing.T) {
			if got := refusedPaths(output, refusals, "cp x my.envrc", "/ws", protected); !slices.Equal(got, want) {
				t.Errorf("got %q, want %q", got, want)
			}
		})
	}
}

func TestRefusedPathsAreNamedByTheCommand(t *testing.T) {
	protected := []string{"/ws/.envrc", "/ws/packages/a/.npmrc"}
	const message = "fatal: renaming 'file' failed: Invalid cross-device link"
	for command, want := range map[string][]string{
		"git mv file packages/a/": {"packages/a"}, "git mv file packages/b": {"packages"}, "git mv file sub/": nil, "cp .envrc x; git mv file y": {".envrc"},
	} {
		t.Run(command, func(t *testing.T) {
			if got := refusedPaths(message, refusals, command, "/ws", protected); !slices.Equal(got, want) {
				t.Errorf("got %q, want %q", got, want)
			}
		})
	}
}

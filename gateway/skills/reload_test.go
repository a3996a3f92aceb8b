package skills

import (
	"context"
	"slices"
	"testing"
	"time"

	"fairlead/gateway/protocol"
	"fairlead/gateway/workspace"
)

func TestWhatIsWatchedIsReadOnceAndAgainAfterAChange(t *testing.T) {
	c := newClass(t)
	c.Watched(true)
	c.write(t, "skills/x/SKILL.md", "One.")
	first := c.entry(t, "x")
	c.write(t, "skills/x/SKILL.md", "Two.")
	if again := c.entry(t, "x"); again.Description != first.Description {
		t.Error("it was read again though nobody told of a change")
	}
	if c.Changed([]string{"agents/main/MEMORY.md", "agents/main/memory/a.md"}) {
		t.Error("memory is no skill")
	}
	if !c.Changed([]string{"skills/x/SKILL.md"}) || c.entry(t, "x").Description != "Two." {
		t.Error("a change was not seen")
	}
	c.write(t, "skills/x/SKILL.md", "Three.")
	s, err := c.Update(t.Context(), protocol.SkillsParams{})
	if err != nil || !slices.ContainsFunc(s.Skills, func(e protocol.SkillStatusEntry) bool { return e.Description == "Three." }) {
		t.Error("skills.update did not read again", err)
	}
}

func TestFilesOnDiskAreHotReloaded(t *testing.T) {
	c := newClass(t)
	files := workspace.NewFiles(c.home, workspace.FilesOptions{})
	told := make(chan bool, 100)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error)
	go func() {
		done <- files.Watch(ctx, func() { c.Watched(true) }, func(paths []string) { told <- c.Changed(paths) })
	}()
	for _, path := range []string{"skills/new/SKILL.md", "agents/main/skills/own/SKILL.md", "skills/new/SKILL.md"} {
		text := "At " + time.Now().Format(time.RFC3339Nano)
		deadline := time.Now().Add(3 * time.Minute)
		for seen := false; !seen; {
			c.write(t, path, text) // until the watch has started
			select {
			case skills := <-told:
				if !skills {
					continue
				}
				s, err := c.Status(t.Context(), protocol.SkillsParams{})
				if err != nil {
					t.Fatal(err)
				}
				seen = slices.ContainsFunc(s.Skills, func(e protocol.SkillStatusEntry) bool { return e.Description == text })
			case <-time.After(50 * time.Millisecond):
			}
			if time.Now().After(deadline) {
				t.Fatalf("%s was not seen", path)
			}
		}
	}
	cancel()
	if err := <-done; err != nil {
		t.Error(err)
	}
}

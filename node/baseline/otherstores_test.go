package baseline

import "testing"

func TestOnlyOrdinarySettingsOfOtherStoresStay(t *testing.T) {
	const clone = "# example repository config\n[paths]\ndefault = /srv/repo\n\n[ui]\n# username = J\n"
	for _, c := range []struct {
		path, before, after string
		undone              bool
	}{
		{path: "a/.hg/requires", after: "share-safe\nrevlogv1\n"},
		{path: "a/.hg/requires", before: "store\n", after: "store\nlargefiles\n"},
		{path: "a/.hg/requires", after: "store\n%include ../x\n", undone: true},
		{path: "a/.hg/hgrc", after: clone},
		{path: "a/.hg/hgrc", before: clone, after: clone + "[hooks]\ncommit = ./evil\n", undone: true},
		{path: "a/.hg/hgrc", after: "[paths]\ndefault = /x\n[extensions]\nevil = ./evil.py\n", undone: true},
		{path: "a/.hg/hgrc", after: "[ui]\neditor = ./evil\n", undone: true},
		{path: "a/.hg/hgrc", after: "[paths]\ndefault = /x\n%include ../evil\n", undone: true},
		{path: "a/.hg/hgrc", after: "[alias]\ndefault = !./evil\n", undone: true},
		{path: "a/.hg/hgrc", after: "[paths]\ndefault = /x\n [hooks]\n", undone: true},
		{path: "a/.hg/hgrc", before: "[hooks]\npre-push = ./check\n", after: clone, undone: true},
		{path: "a/.hg/sharedpath", after: "../../b/.hg"},
		{path: "a/.hg/sharedpath", after: "/tmp/elsewhere/.hg", undone: true},
		{path: "a/.jj/repo/store/git_target", after: "../../../.git"},
		{path: "a/.jj/repo/store/git_target", after: "../../../../../out/.git", undone: true},
		{path: "a/.jj/repo", after: "../../b/.jj/repo"},
		{path: "a/.jj/repo", after: "/tmp/elsewhere/.jj/repo", undone: true},
		{path: "a/.jj/repo/store/git/config", after: "[core]\n\tbare = true\n"},
		{path: "a/.jj/repo/store/git/config", after: "[core]\n\tsshCommand = ./evil\n", undone: true},
		{path: "a/.svn/wc.db", after: "data"},
		{path: "a/hooks/post-lock", after: "evil", undone: true},
		{path: "a/conf/hooks-env", after: "[default]\nLD_PRELOAD = /x\n", undone: true},
		{path: "a/.jj/repo/config.toml", after: "[ui]\npager = \"./evil\"\n", undone: true},
		{path: "a/.bzr/branch/branch.conf", after: "parent_location = ../b/\n"},
		{path: "a/.bzr/branch/branch.conf", after: "post_commit = evil\n", undone: true},
		{path: "a/.pijul/config", after: "[hooks]\nrecord = []\n"},
		{path: "a/.pijul/config", after: "[hooks]\nrecord = [\"./evil\"]\n", undone: true},
	} {
		t.Run(c.path+" "+c.after, func(t *testing.T) {
			k := newKit(t)
			want := "created"
			if c.before != "" {
				k.write(c.path, c.before)
				want = "changed"
			}
			run := k.Begin(Command{ID: "1"})
			k.write(c.path, c.after)
			if c.undone {
				k.expect(run.End(), map[string]string{c.path: want})
			} else {
				k.expect(run.End(), nil)
			}
		})
	}
}

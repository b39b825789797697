package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"

	"golang.org/x/mod/semver"
)

const changelogFile = "CHANGELOG.md"

func checkVersion(version string) error {
	// Without a "+", which no tag of an image can have.
	if semver.Canonical(version) != version || !semver.IsValid(version) {
		return fmt.Errorf("--version %q is no semantic version such as v1.2.3 or v1.2.3-rc.1", version)
	}
	return nil
}

// checkout is what git says.
type checkout struct {
	commit  string
	created time.Time
	// changes are what is in no commit, one file a line.
	changes []string
}

func readCheckout(ctx context.Context, source string) (checkout, error) {
	commit, err := git(ctx, source, "rev-parse", "HEAD")
	if err != nil {
		return checkout{}, err
	}
	seconds, err := git(ctx, source, "log", "-1", "--format=%ct")
	if err != nil {
		return checkout{}, err
	}
	created, err := strconv.ParseInt(seconds, 10, 64)
	if err != nil {
		return checkout{}, fmt.Errorf("reading the date of the commit: %w", err)
	}
	changes, err := git(ctx, source, "status", "--porcelain")
	if err != nil {
		return checkout{}, err
	}
	c := checkout{commit: commit, created: time.Unix(created, 0).UTC()}
	if changes != "" {
		c.changes = strings.Split(changes, "\n")
		c.commit += "-dirty" // as git describe says it
	}
	return c, nil
}

// checkCommit finds a commit that is not the one of the version.
func (c checkout) checkCommit(ctx context.Context, o options) error {
	if len(c.changes) > 0 {
		const most = 5
		shown := strings.Join(c.changes[:min(most, len(c.changes))], "\n  ")
		return fmt.Errorf("the work tree of --source %s has %d changes that are in no commit; commit or remove them, or give --snapshot for a trial:\n  %s",
			o.images.Source, len(c.changes), shown)
	}
	tagged, err := git(ctx, o.images.Source, "for-each-ref", "--format=%(objectname) %(*objectname)", "refs/tags/"+o.images.Version)
	if err != nil {
		return err
	}
	if tagged != "" && !strings.Contains(tagged, c.commit) {
		return fmt.Errorf("the tag %[1]s is not of the commit that is checked out, %[2]s: git switch --detach %[1]s, or give another --version", o.images.Version, c.commit)
	}
	return nil
}

func git(ctx context.Context, folder string, args ...string) (string, error) {
	command := exec.CommandContext(ctx, "git", args...) //nolint:gosec // the arguments are our own
	command.Dir = folder
	var output, problems bytes.Buffer
	command.Stdout, command.Stderr = &output, &problems
	if err := command.Run(); err != nil {
		return "", fmt.Errorf("git %s in --source %s: %w\n%s", args[0], folder, err, problems.String())
	}
	return strings.TrimRight(output.String(), "\n"), nil
}

// readNotes returns the section of the version in CHANGELOG.md. Links to files of the repository become links to where it is read on the web, base.
func readNotes(o options, base string) ([]byte, error) {
	changelog, err := os.ReadFile(filepath.Join(o.images.Source, changelogFile))
	if err != nil {
		return nil, fmt.Errorf("reading the notes of the release: %w", err)
	}
	notes := sectionOf(string(changelog), o.images.Version)
	if notes == "" && o.snapshot {
		notes = sectionOf(string(changelog), "Unreleased")
	}
	if notes == "" {
		return nil, fmt.Errorf("%[1]s has no section \"## %[2]s\" with notes: rename Unreleased to it, with the date, and commit; or give another --version", changelogFile, o.images.Version)
	}
	return []byte(absoluteLinks(notes, base) + "\n"), nil
}

// sectionOf returns what stands below a heading such as "## v1.2.3 (2026-01-02)" or "## [1.2.3]", up to the next.
func sectionOf(changelog, title string) string {
	heading := regexp.MustCompile(`(?m)^## \[?v?` + regexp.QuoteMeta(strings.TrimPrefix(title, "v")) + `\]?(?:[ ,(].*)?$`)
	found := heading.FindStringIndex(changelog)
	if found == nil {
		return ""
	}
	section := changelog[found[1]:]
	if next := regexp.MustCompile(`(?m)^## `).FindStringIndex(section); next != nil {
		section = section[:next[0]]
	}
	return strings.TrimSpace(section)
}

func absoluteLinks(text, base string) string {
	return regexp.MustCompile(`\]\([^)\s]+\)`).ReplaceAllStringFunc(text, func(link string) string {
		target := link[len("](") : len(link)-1]
		if strings.Contains(target, ":") || strings.HasPrefix(target, "#") {
			return link
		}
		return "](" + base + "/" + target + ")"
	})
}

// checkEmpty keeps files of another release out of this one.
func checkEmpty(folder string) error {
	files, err := os.ReadDir(folder)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("--out: %w", err)
	}
	if len(files) > 0 {
		return fmt.Errorf("--out %s is not empty: it has %s; remove the folder, or name another one", folder, files[0].Name())
	}
	return nil
}

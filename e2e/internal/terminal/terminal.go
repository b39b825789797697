// Package terminal prints the progress of a program, step by step, for people. On a terminal, the line of a running step is updated in place;
// otherwise each line is printed once. It must not depend on the steps.
package terminal

import (
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"

	"golang.org/x/term"
)

// refresh is the interval of updates of the elapsed seconds on a terminal.
const refresh = time.Second

// Screen is where the output goes.
type Screen struct {
	out    io.Writer
	live   bool
	colour bool
}

// New returns a screen for a file. Colors are disabled if the environment variable NO_COLOR is set (no-color.org).
func New(file *os.File) *Screen {
	live := term.IsTerminal(int(file.Fd())) && os.Getenv("TERM") != "dumb"
	return &Screen{out: file, live: live, colour: live && os.Getenv("NO_COLOR") == ""}
}

// IsLive reports whether running steps are updated in place.
func (s *Screen) IsLive() bool { return s.live }

// Style is a style of text.
type Style string

// The styles. Color never carries a meaning on its own.
const (
	Bold  Style = "1"
	Dim   Style = "2"
	Red   Style = "31"
	Green Style = "32"
	Blue  Style = "34"
)

// Styled returns text in a style, or unchanged if colors are disabled.
func (s *Screen) Styled(style Style, text string) string {
	if !s.colour || text == "" {
		return text
	}
	return "\x1b[" + string(style) + "m" + text + "\x1b[0m"
}

// Linef prints a line.
func (s *Screen) Linef(format string, args ...any) {
	_, _ = fmt.Fprintf(s.out, format+"\n", args...)
}

// Heading prints a heading with an empty line before and after it.
func (s *Screen) Heading(text string) { s.Linef("\n%s\n", s.Styled(Bold, text)) }

// Step runs a step and prints a line about it: its name, the sentence that do returns, and how long it took. Lines that do writes to its
// progress are printed while it runs.
func (s *Screen) Step(name string, do func(progress io.Writer) (string, error)) error {
	block := s.Block()
	start := time.Now()
	line := func(mark, detail string) string {
		text := fmt.Sprintf("  %s %-12s %s", mark, name, detail)
		if elapsed := time.Since(start); elapsed >= refresh {
			text += s.Styled(Dim, fmt.Sprintf("  %.0f s", elapsed.Seconds()))
		}
		return strings.TrimRight(text, " ")
	}
	stop := block.every(refresh, func() []string { return []string{line("·", "")} })
	detail, err := do(&progressWriter{block: block})
	stop()
	if err != nil {
		block.End(line(s.Styled(Red, "✗"), ""))
		return err
	}
	block.End(line(s.Styled(Green, "✓"), detail))
	return nil
}

// progressWriter prints lines above a block.
type progressWriter struct{ block *Block }

func (w *progressWriter) Write(p []byte) (int, error) {
	w.block.Above("    " + strings.TrimRight(string(p), "\n"))
	return len(p), nil
}

// Block is a few lines that are updated.
type Block struct {
	screen *Screen

	mutex sync.Mutex
	shown []string // what stands on the screen below everything else
}

// Block returns an empty block at the end of the output. Nothing else may be printed until it ends.
func (s *Screen) Block() *Block { return &Block{screen: s} }

// Update replaces the lines. If the output is not a terminal, only End prints them.
func (b *Block) Update(lines ...string) {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	if b.screen.live {
		b.replace(lines)
	}
}

// Above prints a line above the block.
func (b *Block) Above(line string) {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	kept := b.shown
	b.replace([]string{line})
	b.shown = nil
	b.replace(kept)
}

// End replaces the lines for the last time.
func (b *Block) End(lines ...string) {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	b.replace(lines)
	b.shown = nil
}

// replace moves the cursor to the first line of the block, clears from there on, and prints. Lines are cut to the terminal's width: a wrapped
// line would take more lines than the cursor is moved up.
func (b *Block) replace(lines []string) {
	const noWrap, wrap = "\x1b[?7l", "\x1b[?7h"
	var text strings.Builder
	if len(b.shown) > 0 {
		fmt.Fprintf(&text, "\x1b[%dA\r\x1b[J", len(b.shown))
	}
	for _, line := range lines {
		if b.screen.live {
			line = noWrap + line + wrap
		}
		text.WriteString(line + "\n")
	}
	_, _ = io.WriteString(b.screen.out, text.String())
	b.shown = lines
}

// every updates the block periodically, until the returned function is called.
func (b *Block) every(interval time.Duration, lines func() []string) (stop func()) {
	done := make(chan struct{})
	var running sync.WaitGroup
	running.Go(func() {
		ticker := time.NewTicker(interval)
		defer ticker.Stop()
		for {
			b.Update(lines()...)
			select {
			case <-done:
				return
			case <-ticker.C:
			}
		}
	})
	return func() { close(done); running.Wait() }
}

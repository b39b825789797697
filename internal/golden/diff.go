package golden

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// contextLines is how many common lines a hunk shows before and after a change.
const contextLines = 3

const documentSeparator = "---\n"

// diff is a parsed file with a unified diff.
type diff struct {
	base  string
	hunks []hunk
}

// hunk has a first line, counted from zero, in the old text; and lines with ' ', '-' or '+' before them.
type hunk struct {
	start int
	lines []string
}

// parse reads a unified diff of one file.
func parse(content string) (*diff, error) {
	lines := split(content)
	if len(lines) < 2 || !strings.HasPrefix(lines[0], "--- ") || !strings.HasPrefix(lines[1], "+++ ") {
		return nil, errors.New("a diff must begin with the names of two files")
	}
	parsed := &diff{base: strings.TrimSpace(strings.TrimPrefix(lines[0], "--- "))}
	for _, line := range lines[2:] {
		if !strings.HasPrefix(line, "@@ ") {
			if len(parsed.hunks) == 0 || !strings.ContainsAny(line[:1], " -+") {
				return nil, fmt.Errorf("unexpected line %q", line)
			}
			last := &parsed.hunks[len(parsed.hunks)-1]
			last.lines = append(last.lines, line)
			continue
		}
		var start, count int
		if _, err := fmt.Sscanf(line, "@@ -%d,%d ", &start, &count); err != nil {
			return nil, fmt.Errorf("parsing %q: %w", line, err)
		}
		if count > 0 { // of nothing, the line before it is given
			start--
		}
		parsed.hunks = append(parsed.hunks, hunk{start: start})
	}
	return parsed, nil
}

// apply returns the new text. The old text must have exactly the lines that the diff shows, at their places.
func (d *diff) apply(text string) (string, error) {
	from, result, at := split(text), &strings.Builder{}, 0
	for _, hunk := range d.hunks {
		if hunk.start < at || hunk.start > len(from) {
			return "", fmt.Errorf("a hunk begins at line %d, after line %d of %d", hunk.start+1, at, len(from))
		}
		result.WriteString(strings.Join(from[at:hunk.start], ""))
		at = hunk.start
		for _, line := range hunk.lines {
			operation, line := line[0], line[1:]
			if operation != '+' {
				if at == len(from) || from[at] != line {
					return "", fmt.Errorf("line %d of the base is not %q", at+1, line)
				}
				at++
			}
			if operation != '-' {
				result.WriteString(line)
			}
		}
	}
	result.WriteString(strings.Join(from[at:], ""))
	return result.String(), nil
}

// split cuts a text after each newline.
func split(text string) []string {
	return slices.Collect(strings.Lines(text))
}

// hunksOf returns the hunks of the unified diff between two texts. After its numbers, a hunk names the Kubernetes object in which it begins.
func hunksOf(from, to string) string {
	old, edits, text := split(from), edit(split(from), split(to)), &strings.Builder{}
	oldLine, newLine := 0, 0
	for begin := 0; begin < len(edits); {
		if edits[begin][0] == ' ' {
			begin, oldLine, newLine = begin+1, oldLine+1, newLine+1
			continue
		}
		first := max(0, begin-contextLines)
		before := begin - first
		end := hunkEnd(edits, begin)
		olds, news := count(edits[first:end], '-'), count(edits[first:end], '+')
		fmt.Fprintf(text, "@@ -%s +%s @@", lineRange(oldLine-before, olds), lineRange(newLine-before, news))
		if name := objectAt(old, oldLine); name != "" {
			text.WriteString(" " + name)
		}
		text.WriteString("\n")
		for _, line := range edits[first:end] {
			text.WriteString(strings.TrimSuffix(line, "\n") + "\n")
		}
		oldLine, newLine, begin = oldLine-before+olds, newLine-before+news, end
	}
	return text.String()
}

// hunkEnd returns the index after the last line of a hunk, of which the first change is given.
func hunkEnd(edits []string, change int) int {
	end := change
	for i := change; i < len(edits) && i <= end+2*contextLines; i++ {
		if edits[i][0] != ' ' {
			end = i
		}
	}
	return min(len(edits), end+1+contextLines)
}

// count returns the length of one side of a hunk: the common lines and those with an operation.
func count(edits []string, operation byte) (lines int) {
	for _, each := range edits {
		if each[0] == ' ' || each[0] == operation {
			lines++
		}
	}
	return lines
}

func lineRange(start, lines int) string {
	if lines > 0 {
		start++
	}
	return fmt.Sprintf("%d,%d", start, lines)
}

// objectAt returns kind and name of the Kubernetes object in whose YAML document a line is.
func objectAt(lines []string, at int) string {
	first, last := min(at, len(lines)), at
	for first > 0 && lines[first-1] != documentSeparator {
		first--
	}
	for last < len(lines) && lines[last] != documentSeparator {
		last++
	}
	kind, name := "", ""
	for _, line := range lines[first:max(first, last)] {
		if value, found := strings.CutPrefix(line, "kind: "); found {
			kind = strings.TrimSpace(value)
		}
		if value, found := strings.CutPrefix(line, "  name: "); found && kind != "" && name == "" {
			name = strings.TrimSpace(value)
		}
	}
	return strings.TrimSpace(kind + " " + name)
}

// edit returns the lines of both texts, with ' ', '-' or '+' before them: a shortest way from one to the other, found by Myers' algorithm.
func edit(from, to []string) []string {
	var reversed []string
	x, y := len(from), len(to)
	for frontiers := search(from, to); x > 0 || y > 0; {
		changes := len(frontiers) - 1
		previousX, previousY := 0, 0
		if changes > 0 {
			frontiers = frontiers[:changes]
			diagonal := previousDiagonal(frontiers[changes-1], changes, x-y)
			previousX = frontiers[changes-1][diagonal]
			previousY = previousX - diagonal
		}
		for x > previousX && y > previousY {
			x, y = x-1, y-1
			reversed = append(reversed, " "+from[x])
		}
		switch {
		case x > previousX:
			x--
			reversed = append(reversed, "-"+from[x])
		case y > previousY:
			y--
			reversed = append(reversed, "+"+to[y])
		}
	}
	slices.Reverse(reversed)
	return reversed
}

// search returns, for each number of changes until both texts are used up, how many lines of the first text are used up on each diagonal. A diagonal
// is the difference between the lines of the first and of the second text that are used up.
func search(from, to []string) []map[int]int {
	var frontiers []map[int]int
	for changes := 0; ; changes++ {
		frontier := map[int]int{}
		for diagonal := -changes; diagonal <= changes; diagonal += 2 {
			x := 0
			if changes > 0 {
				last := frontiers[changes-1]
				previous := previousDiagonal(last, changes, diagonal)
				if x = last[previous]; previous < diagonal {
					x++
				}
			}
			for x < len(from) && x-diagonal >= 0 && x-diagonal < len(to) && from[x] == to[x-diagonal] {
				x++
			}
			frontier[diagonal] = x
			if x >= len(from) && x-diagonal >= len(to) {
				return append(frontiers, frontier)
			}
		}
		frontiers = append(frontiers, frontier)
	}
}

// previousDiagonal returns the diagonal from which the given one is reached by one change: a line more of the second text, or of the first.
func previousDiagonal(last map[int]int, changes, diagonal int) int {
	if diagonal == -changes || diagonal != changes && last[diagonal-1] < last[diagonal+1] {
		return diagonal + 1
	}
	return diagonal - 1
}

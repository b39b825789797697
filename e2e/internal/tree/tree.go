// Package tree draws trees as lines of text, for the demo.
package tree

import "strings"

// Node is a line of a tree, with its children.
type Node struct {
	// Name and Kind are printed beside each other.
	Name, Kind string
	Below      []Node
}

// Lines draws trees one after another.
func Lines(roots []Node) []string {
	var lines []string
	for _, root := range roots {
		lines = append(lines, root.lines()...)
	}
	return lines
}

// List draws a line with others below it.
func List(top string, below []string) []string {
	root := Node{Name: top}
	for _, line := range below {
		root.Below = append(root.Below, Node{Name: line})
	}
	return root.lines()
}

func (n Node) lines() []string {
	lines := []string{strings.TrimSpace(n.Name + "  " + n.Kind)}
	for i, below := range n.Below {
		branch, trunk := "├─ ", "│  "
		if i == len(n.Below)-1 {
			branch, trunk = "└─ ", "   "
		}
		for j, line := range below.lines() {
			if j == 0 {
				lines = append(lines, branch+line)
			} else {
				lines = append(lines, trunk+line)
			}
		}
	}
	return lines
}

package main

import (
	"go/ast"
	"strings"
	"unicode"
)

// withoutMarkers removes the lines that are for generators.
func withoutMarkers(comment string) string {
	var lines []string
	for line := range strings.Lines(comment) {
		if !strings.HasPrefix(line, "+") {
			lines = append(lines, line)
		}
	}
	return strings.TrimSpace(strings.Join(lines, ""))
}

// splitDefault takes the paragraph that begins with "Default:" out of a comment.
func splitDefault(comment string) (text, fallback string) {
	var paragraphs []string
	for paragraph := range strings.SplitSeq(comment, "\n\n") {
		if value, ok := strings.CutPrefix(paragraph, "Default:"); ok {
			fallback = strings.TrimSuffix(strings.TrimSpace(value), ".")
			continue
		}
		paragraphs = append(paragraphs, paragraph)
	}
	return strings.Join(paragraphs, "\n\n"), fallback
}

// withoutName drops the name at the start of a Go comment, which the first column of a table says already:
// "Name is the key." becomes "The key.".
func withoutName(comment, name string) string {
	rest, ok := strings.CutPrefix(comment, name+" ")
	if !ok {
		return upperFirst(comment)
	}
	for _, verb := range []string{"is ", "are "} {
		if complement, ok := strings.CutPrefix(rest, verb); ok {
			return upperFirst(complement)
		}
	}
	return upperFirst(rest)
}

func upperFirst(text string) string {
	for i, first := range text {
		return string(unicode.ToUpper(first)) + text[i+len(string(first)):]
	}
	return text
}

// describeType writes a Go type in words for people who write YAML. refers is the type of the same package in it.
func describeType(expression ast.Expr) (text, refers string) {
	switch kind := expression.(type) {
	case *ast.StarExpr:
		return describeType(kind.X)
	case *ast.ArrayType:
		if name, ok := kind.Elt.(*ast.Ident); ok && name.Name == "byte" {
			return "bytes in base64", ""
		}
		element, refers := describeType(kind.Elt)
		return "list of " + element, refers
	case *ast.MapType:
		key, _ := describeType(kind.Key)
		value, refers := describeType(kind.Value)
		return "map of " + key + " to " + value, refers
	case *ast.SelectorExpr:
		return qualifiedType(kind), ""
	case *ast.Ident:
		return identifier(kind.Name)
	default:
		return "anything", ""
	}
}

func identifier(name string) (text, refers string) {
	switch name {
	case "string":
		return "string", ""
	case "bool":
		return "boolean", ""
	case "int", "int32", "int64":
		return "integer", ""
	case "any":
		return "anything", ""
	default:
		return name, name
	}
}

func qualifiedType(selector *ast.SelectorExpr) string {
	switch selector.Sel.Name {
	case "Duration":
		return "duration, like `1m30s`"
	case "ResourceList":
		return "map of resource name to quantity, like `cpu: 100m`"
	case "Time":
		return "time, like `2030-01-31T12:00:00Z`"
	case "IntOrString":
		return "integer, or percentage, like `25%`"
	case "LabelSelector":
		return "label selector, like `matchLabels: {colour: red}`"
	case "LocalObjectReference":
		return "reference, like `name: red`"
	case "RawExtension":
		return "object"
	default:
		return selector.Sel.Name + " of Gardener"
	}
}

package main

import (
	"slices"
	"strings"
	"testing"
)

func TestExtract(t *testing.T) {
	api := definition{
		Operations: map[string]operation{
			"CreateTree": {Input: &reference{Shape: "TreeInput"}, Errors: []reference{{Shape: "TreeError"}}},
			"Other":      {Input: &reference{Shape: "Unused"}},
			"Broken":     {Input: &reference{Shape: "Missing"}},
		},
		Shapes: map[string]shape{
			"TreeInput": {Type: "structure", Members: map[string]reference{"Children": {Shape: "Trees"}}},
			"Trees":     {Type: "list", Member: &reference{Shape: "TreeInput"}},
			"TreeError": {Type: "structure"},
			"Unused":    {Type: "string"},
		},
	}
	got, err := extract(api, []string{"CreateTree"})
	if err != nil {
		t.Fatal(err)
	}
	var shapes []string
	for name := range got.Shapes {
		shapes = append(shapes, name)
	}
	slices.Sort(shapes)
	if want := []string{"TreeError", "TreeInput", "Trees"}; !slices.Equal(shapes, want) {
		t.Errorf("shapes %v, want %v", shapes, want)
	}
	if text := string(encode(got)); strings.Count(text, "\n") != 11 || strings.Contains(text, "Unused") {
		t.Errorf("a line per operation and shape, got:\n%s", text)
	}
	for _, name := range []string{"Missing", "Broken"} {
		if _, err := extract(api, []string{name}); err == nil {
			t.Errorf("%s: want an error", name)
		}
	}
}

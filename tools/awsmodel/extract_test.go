package main

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
)

func TestAddFilters(t *testing.T) {
	api := definition{Operations: map[string]operation{"DescribeTrees": {Input: &reference{Shape: "TreesInput"}}, "Other": {}}}
	var docs documentation
	err := json.Unmarshal([]byte(`{"shapes": {"FilterList": {"refs": {"TreesInput$Filters":
		"<p>The filters.</p> <ul> <li> <p> <code>tree-id</code> - The ID, see <code>TreeId</code>.</p> </li> <li> <p> <code>kind</code> - The kind.</p> </li> </ul>"}}}}`), &docs)
	if err != nil {
		t.Fatal(err)
	}
	addFilters(api, docs)
	if got, want := api.Operations["DescribeTrees"].Filters, []string{"kind", "tree-id"}; !slices.Equal(got, want) {
		t.Errorf("filters %v, want %v", got, want)
	}
}

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

func TestAddNewer(t *testing.T) {
	api := definition{Operations: map[string]operation{}, Shapes: map[string]shape{
		"Tree": {Type: "structure", Members: map[string]reference{"Name": {Shape: "Name"}}},
	}}
	newer := map[string]shape{"Tree": {Members: map[string]reference{"Age": {Shape: "Age"}}}, "Age": {Type: "integer"}}
	operations := map[string]operation{"Grow": {Name: "Grow"}}
	if err := addNewer(api, newer, operations); err != nil {
		t.Fatal(err)
	}
	if api.Operations["Grow"].Name != "Grow" {
		t.Errorf("got %v", api.Operations)
	}
	if got := api.Shapes["Tree"].Members; len(got) != 2 || got["Age"].Shape != "Age" || api.Shapes["Age"].Type != "integer" {
		t.Errorf("got %v", api.Shapes)
	}
	if err := addNewer(api, newer, nil); err == nil {
		t.Error("a member that the model has is not added again")
	}
	if err := addNewer(api, nil, operations); err == nil {
		t.Error("an operation that the model has is not added again")
	}
}

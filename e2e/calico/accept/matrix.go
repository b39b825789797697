package accept

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

// Object is one object of a rendering.
type Object struct {
	unstructured.Unstructured
	// File is where it was read from: the same file is the same object.
	File string
}

func (o Object) String() string { return o.GetKind() + " " + o.GetName() }

// into decodes the object into a type of its own.
func (o Object) into(target any) error {
	raw, err := json.Marshal(o.Object)
	if err != nil {
		return err
	}
	return json.Unmarshal(raw, target)
}

// Rendering is all that one shoot gets.
type Rendering []Object

// find returns the only object of a kind and name.
func (r Rendering) find(kind, name string) (Object, bool) {
	for _, object := range r {
		if object.GetKind() == kind && object.GetName() == name {
			return object, true
		}
	}
	return Object{}, false
}

// files lists the files of the objects, of some kinds only if there are any, sorted.
func (r Rendering) files(kinds ...string) []string {
	var files []string
	for _, object := range r {
		if len(kinds) == 0 || slices.Contains(kinds, object.GetKind()) {
			files = append(files, object.File)
		}
	}
	slices.Sort(files)
	return files
}

func (r Rendering) ofGroup(group string) Rendering {
	var found Rendering
	for _, object := range r {
		if object.GroupVersionKind().Group == group {
			found = append(found, object)
		}
	}
	return found
}

// Matrix is a folder of renderings.
type Matrix struct {
	// Cases are the renderings by the sentence that describes the shoot. Refused shoots are not among them.
	Cases map[string]Rendering
	// Refused counts the shoots that have no rendering.
	Refused int
}

// Sentences lists the cases, sorted.
func (m Matrix) Sentences() []string { return slices.Sorted(maps.Keys(m.Cases)) }

// Load reads cases.yaml and the folder objects beside it. A file that no case has is an error, and so is an empty matrix.
func Load(folder string) (Matrix, error) {
	var file struct {
		Always []string `json:"always"`
		Cases  map[string]struct {
			Objects []string `json:"objects"`
			Refused string   `json:"refused"`
		} `json:"cases"`
	}
	raw, err := os.ReadFile(filepath.Join(folder, "cases.yaml"))
	if err != nil {
		return Matrix{}, fmt.Errorf("reading the cases: %w", err)
	}
	if err := yaml.Unmarshal(raw, &file); err != nil {
		return Matrix{}, fmt.Errorf("parsing the cases: %w", err)
	}
	objects, err := readObjects(filepath.Join(folder, "objects"))
	if err != nil {
		return Matrix{}, err
	}
	matrix, seen := Matrix{Cases: map[string]Rendering{}}, map[string]bool{}
	for sentence, each := range file.Cases {
		if each.Refused != "" {
			matrix.Refused++
			continue
		}
		for _, name := range slices.Concat(file.Always, each.Objects) {
			object, ok := objects[name]
			if !ok {
				return Matrix{}, fmt.Errorf("case %q: there is no file %s", sentence, name)
			}
			seen[name] = true
			matrix.Cases[sentence] = append(matrix.Cases[sentence], object)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(objects)) {
		if !seen[name] {
			return Matrix{}, fmt.Errorf("no case has %s", name)
		}
	}
	if len(matrix.Cases) == 0 {
		return Matrix{}, errors.New("the matrix has no rendering")
	}
	return matrix, nil
}

func readObjects(folder string) (map[string]Object, error) {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return nil, fmt.Errorf("reading the objects: %w", err)
	}
	objects := map[string]Object{}
	for _, entry := range entries {
		raw, err := os.ReadFile(filepath.Join(folder, entry.Name()))
		if err != nil {
			return nil, fmt.Errorf("reading an object: %w", err)
		}
		object := Object{File: entry.Name()}
		asJSON, err := yaml.YAMLToJSONStrict(raw)
		if err != nil {
			return nil, fmt.Errorf("parsing %s: %w", entry.Name(), err)
		}
		if err := object.UnmarshalJSON(asJSON); err != nil {
			return nil, fmt.Errorf("parsing %s: %w", entry.Name(), err)
		}
		objects[entry.Name()] = object
	}
	return objects, nil
}

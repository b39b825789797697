package accept

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

// Object is one object of a rendering.
type Object struct {
	unstructured.Unstructured
	// Hash is of the object's YAML: objects with the same hash are the same.
	Hash string
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

// hashes lists the hashes of the objects, of the given kinds only if there are any, sorted.
func (r Rendering) hashes(kinds ...string) []string {
	var hashes []string
	for _, object := range r {
		if len(kinds) == 0 || slices.Contains(kinds, object.GetKind()) {
			hashes = append(hashes, object.Hash)
		}
	}
	slices.Sort(hashes)
	return hashes
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

// Load reads cases.yaml and the folder manifests next to it. It fails for a file that is in no case, and for an empty matrix.
func Load(folder string) (Matrix, error) {
	var file struct {
		Cases map[string]struct {
			Manifests []string `json:"manifests"`
			Refused   string   `json:"refused"`
		} `json:"cases"`
	}
	raw, err := os.ReadFile(filepath.Join(folder, "cases.yaml"))
	if err != nil {
		return Matrix{}, fmt.Errorf("reading the cases: %w", err)
	}
	if err := yaml.Unmarshal(raw, &file); err != nil {
		return Matrix{}, fmt.Errorf("parsing the cases: %w", err)
	}
	manifests, err := readManifests(filepath.Join(folder, "manifests"))
	if err != nil {
		return Matrix{}, err
	}
	matrix, seen := Matrix{Cases: map[string]Rendering{}}, map[string]bool{}
	for sentence, each := range file.Cases {
		if each.Refused != "" {
			matrix.Refused++
			continue
		}
		for _, name := range each.Manifests {
			objects, ok := manifests[name]
			if !ok {
				return Matrix{}, fmt.Errorf("case %q: there is no file %s", sentence, name)
			}
			seen[name] = true
			matrix.Cases[sentence] = append(matrix.Cases[sentence], objects...)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(manifests)) {
		if !seen[name] {
			return Matrix{}, fmt.Errorf("no case has %s", name)
		}
	}
	if len(matrix.Cases) == 0 {
		return Matrix{}, errors.New("the matrix has no rendering")
	}
	return matrix, nil
}

// readManifests returns the objects of each file of a folder.
func readManifests(folder string) (map[string][]Object, error) {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return nil, fmt.Errorf("reading the manifests: %w", err)
	}
	manifests := map[string][]Object{}
	for _, entry := range entries {
		text, err := readManifest(filepath.Join(folder, entry.Name()))
		if err != nil {
			return nil, err
		}
		for document := range strings.SplitSeq(text, "---\n") {
			object := Object{Hash: hashOf(document)}
			asJSON, err := yaml.YAMLToJSONStrict([]byte(document))
			if err != nil {
				return nil, fmt.Errorf("parsing %s: %w", entry.Name(), err)
			}
			if err := object.UnmarshalJSON(asJSON); err != nil {
				return nil, fmt.Errorf("parsing %s: %w", entry.Name(), err)
			}
			manifests[entry.Name()] = append(manifests[entry.Name()], object)
		}
	}
	return manifests, nil
}

func hashOf(document string) string {
	hash := sha256.Sum256([]byte(document))
	return hex.EncodeToString(hash[:])
}

// readManifest returns the text of a file. A file that ends in .diff is a unified diff against the file that its first line names.
func readManifest(file string) (string, error) {
	raw, err := os.ReadFile(file)
	if err != nil {
		return "", fmt.Errorf("reading a manifest: %w", err)
	}
	if filepath.Ext(file) != ".diff" {
		return string(raw), nil
	}
	lines := slices.Collect(strings.Lines(string(raw)))
	name, found := strings.CutPrefix(lines[0], "--- ")
	if !found || len(lines) < 2 {
		return "", fmt.Errorf("%s is not a diff", file)
	}
	base, err := readManifest(filepath.Join(filepath.Dir(file), strings.TrimSpace(name)))
	if err != nil {
		return "", err
	}
	text, err := patch(slices.Collect(strings.Lines(base)), lines[2:])
	if err != nil {
		return "", fmt.Errorf("applying %s: %w", file, err)
	}
	return text, nil
}

// patch applies the hunks of a unified diff to lines.
func patch(base, hunks []string) (string, error) {
	result, at := &strings.Builder{}, 0
	for _, line := range hunks {
		switch line[0] {
		case '@':
			var start, count int
			if _, err := fmt.Sscanf(line, "@@ -%d,%d ", &start, &count); err != nil {
				return "", fmt.Errorf("parsing %q: %w", line, err)
			}
			if count > 0 { // of an empty range, the line before it is given
				start--
			}
			if start < at || start > len(base) {
				return "", fmt.Errorf("the base has no line %d after line %d", start+1, at)
			}
			result.WriteString(strings.Join(base[at:start], ""))
			at = start
			continue
		case '+':
			result.WriteString(line[1:])
			continue
		}
		if at == len(base) || base[at] != line[1:] {
			return "", fmt.Errorf("line %d of the base is not %q", at+1, line[1:])
		}
		if line[0] == ' ' {
			result.WriteString(line[1:])
		}
		at++
	}
	result.WriteString(strings.Join(base[at:], ""))
	return result.String(), nil
}

// Program awsmodel extracts the API operations in use from AWS' own service models, for the fake AWS.
//
// The models are files of github.com/aws/aws-sdk-go, which is large. This module exists so that it is in no other go.sum. The program only reads its
// files. The operations in use are listed in operations.json. Run it by make generate.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"

	_ "github.com/aws/aws-sdk-go" //nolint:staticcheck // deprecated, but its successor does not contain the models
)

const sdk = "github.com/aws/aws-sdk-go"

// selection names the operations of a service to extract.
type selection struct {
	Model      string   `json:"model"` // its folder in models/apis
	Operations []string `json:"operations"`
	// Newer has shapes, and members of shapes, that AWS added after the last version of the SDK with models.
	Newer map[string]shape `json:"newer"`
	// NewerOperations are operations that AWS added after that version.
	NewerOperations map[string]operation `json:"newerOperations"`
}

const restJSON = "rest-json"

func main() {
	if err := run(context.Background(), os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "awsmodel:", err)
		os.Exit(1)
	}
}

// run writes the models, the test vectors of the protocols, and the examples of the operations into three folders below that of the fake.
func run(ctx context.Context, args []string) error {
	if len(args) != 1 {
		return errors.New("usage: awsmodel <folder of the fake>")
	}
	source, err := findModule(ctx)
	if err != nil {
		return err
	}
	selections := map[string]selection{}
	if err := readJSON("operations.json", &selections); err != nil {
		return err
	}
	models := filepath.Join(args[0], "model", "data")
	tests := filepath.Join(args[0], "protocol", "testdata")
	for _, service := range slices.Sorted(maps.Keys(selections)) {
		if err := writeService(source, service, selections[service], models, filepath.Join(tests, "examples")); err != nil {
			return fmt.Errorf("extracting %s: %w", service, err)
		}
	}
	if err := copyVectors(source, filepath.Join(tests, "vectors")); err != nil {
		return err
	}
	for _, folder := range []string{models, tests} {
		if err := writeNotice(source, folder); err != nil {
			return err
		}
	}
	return nil
}

// module is the part of the output of go list -m -json that is used.
type module struct {
	Version string `json:"Version"`
	Dir     string `json:"Dir"`
}

// findModule returns the folder and the version of the SDK as go.mod pins it. It was downloaded to build this program.
func findModule(ctx context.Context) (module, error) {
	list := exec.CommandContext(ctx, "go", "list", "-m", "-json", sdk)
	list.Stderr = os.Stderr
	output, err := list.Output()
	if err != nil {
		return module{}, fmt.Errorf("looking up %s: %w", sdk, err)
	}
	var found module
	if err := json.Unmarshal(output, &found); err != nil {
		return module{}, fmt.Errorf("looking up %s: %w", sdk, err)
	}
	return found, nil
}

func writeService(source module, service string, selected selection, models, examples string) error {
	folder := filepath.Join(source.Dir, "models", "apis", filepath.FromSlash(selected.Model))
	var api definition
	if err := readJSON(filepath.Join(folder, "api-2.json"), &api); err != nil {
		return err
	}
	if err := addNewer(api, selected.Newer, selected.NewerOperations); err != nil {
		return err
	}
	extracted, err := extract(api, selected.Operations)
	if err != nil {
		return err
	}
	var docs documentation
	if err := readJSON(filepath.Join(folder, "docs-2.json"), &docs); err != nil {
		return err
	}
	addFilters(extracted, docs)
	if err := writeFile(filepath.Join(models, service+".json"), encode(extracted)); err != nil {
		return err
	}
	var all exampleFile
	if err := readJSON(filepath.Join(folder, "examples-1.json"), &all); err != nil {
		return err
	}
	return writeFile(filepath.Join(examples, service+".json"), encodeExamples(selectExamples(all, selected.Operations)))
}

// copyVectors copies the official test vectors of the protocols.
func copyVectors(source module, to string) error {
	for _, direction := range []string{"input", "output"} {
		for _, protocol := range []string{"ec2", "query", restJSON} {
			var vectors json.RawMessage
			if err := readJSON(filepath.Join(source.Dir, "models", "protocol_tests", direction, protocol+".json"), &vectors); err != nil {
				return err
			}
			var compact bytes.Buffer
			if err := json.Indent(&compact, vectors, "", " "); err != nil {
				return err
			}
			if err := writeFile(filepath.Join(to, direction+"-"+protocol+".json"), append(compact.Bytes(), '\n')); err != nil {
				return err
			}
		}
	}
	return nil
}

// writeNotice writes where the files of a folder come from, with the notice that the licence of the SDK asks to keep.
func writeNotice(source module, folder string) error {
	notice, err := os.ReadFile(filepath.Join(source.Dir, "NOTICE.txt"))
	if err != nil {
		return err
	}
	text := fmt.Sprintf("The JSON files in this folder are extracts of files below models/ of %s %s, written by tools/awsmodel. Do not edit them.\n"+
		"What is newer than that version is in tools/awsmodel/operations.json as \"newer\", by AWS' API reference.\n"+
		"They are licensed under the Apache License 2.0, the text of which is the file LICENSE of this repository. The notice of their authors:\n\n%s",
		sdk, source.Version, notice)
	return writeFile(filepath.Join(folder, "NOTICE"), []byte(text))
}

func readJSON(path string, into any) error {
	content, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(content, into); err != nil {
		return fmt.Errorf("reading %s: %w", path, err)
	}
	return nil
}

func writeFile(path string, content []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil { //nolint:gosec // everybody may read the repository
		return err
	}
	return os.WriteFile(path, content, 0o644) //nolint:gosec // everybody may read the repository
}

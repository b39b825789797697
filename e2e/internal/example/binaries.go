package example

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/trellis-garden/trellis/e2e/internal/controller"
	"github.com/trellis-garden/trellis/e2e/internal/repo"
)

const ours = "github.com/trellis-garden/trellis/internal/"

// edit adds a driver to a list: it replaces a text, which must occur once.
type edit struct{ before, after string }

// insert returns an edit that adds a line after another one.
func insert(line, added string) edit { return edit{line + "\n", line + "\n" + added + "\n"} }

// imports returns an edit that adds imports after another one.
func imports(existing string, added ...string) edit {
	return insert("\t\""+ours+existing+"\"", "\t"+strings.Join(added, "\n\t"))
}

func quoted(path string) string { return `"` + ours + path + `"` }

// edits are all changes to files outside of the provider's own packages, by file: those of section "Plug it in" in docs/development/add-a-provider.md.
func edits() map[string][]edit {
	const types = "[]string{openstack.Type, aws.Type"
	withExample := edit{types, types + ", example.Type"}
	images := edit{"(openstack.ImageVector()", "(openstack.ImageVector(), example.ImageVector()"}
	sessions := "example.New(cloudexample.NewSessions(cloudexample.Options{Registerer: p.Registerer})),"
	cloud := "cloudexample " + quoted("cloud/example")
	return map[string][]edit{
		"cmd/infrastructure-controller/main.go": {
			imports("infrastructure/openstack", cloud, quoted("infrastructure/example")), withExample,
			insert("\tdrivers := map[string]infrastructure.Driver{", "\t\texample.Type: "+sessions),
		},
		"cmd/controlplane-controller/main.go": {
			imports("controlplane/openstack", quoted("controlplane/example")), withExample,
			insert("\t\topenstack.Type: openstack.ImageVector(),", "\t\texample.Type: example.ImageVector(),"),
			insert("\t\topenstack.Type: openstack.New(),", "\t\texample.Type: example.New(),"),
		},
		"cmd/network-controller/main.go": {
			imports("network/calico", quoted("network/examplenet")),
			{"[]string{calico.Type,", "[]string{examplenet.Type, calico.Type,"},
			{"(calico.ImageVector(),", "(examplenet.ImageVector(), calico.ImageVector(),"},
			insert("\t\tgardenet.Type: gardenet.New(),", "\t\texamplenet.Type: examplenet.New(),"),
		},
		"cmd/worker-controller/main.go": {
			imports("worker/openstack", cloud, quoted("worker/example")), withExample,
			insert("\t\topenstack.Type: openstack.New(openStackSessions),", "\t\texample.Type: "+sessions),
		},
		"cmd/worker-controller/webhooks.go": {imports("worker/openstack", quoted("worker/example")), images},
	}
}

// Infrastructure is the infrastructure-controller with the example provider.
func Infrastructure() (controller.Binary, error) { return binary("infrastructure-controller", Type) }

// ControlPlane is the controlplane-controller with the example provider.
func ControlPlane() (controller.Binary, error) { return binary("controlplane-controller", Type) }

// Network is the network-controller with the example plugin.
func Network() (controller.Binary, error) { return binary("network-controller", NetworkType) }

// Worker is the worker-controller with the example provider.
func Worker() (controller.Binary, error) { return binary("worker-controller", Type) }

// Machine is the machine controller of the example provider, a command of this module.
func Machine() controller.Binary {
	return controller.Binary{Name: "machine-controller-example", Module: "e2e"}
}

func binary(name, providerType string) (controller.Binary, error) {
	overlay, err := Overlay()
	if err != nil {
		return controller.Binary{}, err
	}
	chart, err := Chart(name, "v0.0.0", providerType)
	if err != nil {
		return controller.Binary{}, err
	}
	return controller.WithRole(controller.Binary{Name: name, Types: []string{providerType}, Overlay: overlay}, chart)
}

// Overlay writes the edited files, and returns the path of a file for go build -overlay.
func Overlay() (string, error) {
	root, err := repo.Root()
	if err != nil {
		return "", err
	}
	dir, err := repo.Path(".cache", "e2e", "example")
	if err != nil {
		return "", err
	}
	replaced := map[string]string{}
	for file, changes := range edits() {
		path := filepath.Join(dir, file)
		if err := writeEdited(filepath.Join(root, file), path, changes); err != nil {
			return "", err
		}
		replaced[filepath.Join(root, file)] = path
	}
	content, err := json.Marshal(map[string]any{"Replace": replaced})
	if err != nil {
		return "", err
	}
	path := filepath.Join(dir, "overlay.json")
	return path, writeIfChanged(path, content)
}

func writeEdited(from, to string, changes []edit) error {
	content, err := os.ReadFile(from)
	if err != nil {
		return fmt.Errorf("reading a list of drivers: %w", err)
	}
	text := string(content)
	for _, change := range changes {
		if n := strings.Count(text, change.before); n != 1 {
			return fmt.Errorf("%s has %d times %q, which the example provider extends", from, n, change.before)
		}
		text = strings.Replace(text, change.before, change.after, 1)
	}
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		return fmt.Errorf("creating a folder for edited files: %w", err)
	}
	return writeIfChanged(to, []byte(text))
}

// writeIfChanged replaces a file atomically, since several processes may build at the same time. Unchanged files keep builds cached.
func writeIfChanged(path string, content []byte) error {
	if known, err := os.ReadFile(path); err == nil && bytes.Equal(known, content) {
		return nil
	}
	file, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+"-*")
	if err != nil {
		return fmt.Errorf("writing %s: %w", path, err)
	}
	defer func() { _ = os.Remove(file.Name()) }() // it was renamed
	if _, err := file.Write(content); err != nil {
		return fmt.Errorf("writing %s: %w", path, err)
	}
	if err := file.Close(); err != nil {
		return fmt.Errorf("writing %s: %w", path, err)
	}
	return os.Rename(file.Name(), path)
}

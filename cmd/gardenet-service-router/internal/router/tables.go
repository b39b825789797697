package router

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os/exec"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// tableName is the name of the proxier's tables, one of each family. It is a constant of Kubernetes, and that of kube-proxy in nftables mode.
const tableName = "kube-proxy"

// tables reads and removes tables of the node by the program nft.
type tables struct{ nft string }

// nftFamily is the word for a family of tables.
func nftFamily(family corev1.IPFamily) string {
	if family == corev1.IPv6Protocol {
		return "ip6"
	}
	return "ip"
}

// run runs nft with a script on its standard input, if there is one.
func (t tables) run(ctx context.Context, script string, args ...string) ([]byte, error) {
	command := exec.CommandContext(ctx, t.nft, args...) //nolint:gosec // the program is an option of the process
	command.Stdin = strings.NewReader(script)
	var output, problems bytes.Buffer
	command.Stdout, command.Stderr = &output, &problems
	if err := command.Run(); err != nil {
		return nil, fmt.Errorf("nft %s: %w: %s", strings.Join(args, " "), err, strings.TrimSpace(problems.String()))
	}
	return output.Bytes(), nil
}

// objects are those of a listing in nft's JSON.
type objects struct {
	Nftables []struct {
		Table *struct {
			Name string `json:"name"`
		} `json:"table"`
		Chain *chain `json:"chain"`
		Rule  *rule  `json:"rule"`
	} `json:"nftables"`
}

type chain struct {
	Table string `json:"table"`
	Name  string `json:"name"`
}

type rule struct {
	Chain  string `json:"chain"`
	Handle int    `json:"handle"`
	Expr   []struct {
		Jump *target `json:"jump"`
		Goto *target `json:"goto"`
	} `json:"expr"`
}

type target struct {
	Target string `json:"target"`
}

func (t tables) list(ctx context.Context, args ...string) (objects, error) {
	output, err := t.run(ctx, "", append([]string{"-j", "list"}, args...)...)
	if err != nil {
		return objects{}, err
	}
	var found objects
	if err := json.Unmarshal(output, &found); err != nil {
		return objects{}, fmt.Errorf("reading what nft lists: %w", err)
	}
	return found, nil
}

// exists reports whether there is a table of a family.
func (t tables) exists(ctx context.Context, family corev1.IPFamily) (bool, error) {
	found, err := t.list(ctx, "tables", nftFamily(family))
	if err != nil {
		return false, err
	}
	for _, object := range found.Nftables {
		if object.Table != nil && object.Table.Name == tableName {
			return true, nil
		}
	}
	return false, nil
}

// remove removes the table of a family, if there is one.
func (t tables) remove(ctx context.Context, family corev1.IPFamily) (removed bool, err error) {
	if exists, err := t.exists(ctx, family); err != nil || !exists {
		return false, err
	}
	_, err = t.run(ctx, "", "delete", "table", nftFamily(family), tableName)
	return err == nil, err
}

// fingerprint changes with the table of a family, and is empty if there is none.
func (t tables) fingerprint(ctx context.Context, family corev1.IPFamily) (string, error) {
	if exists, err := t.exists(ctx, family); err != nil || !exists {
		return "", err
	}
	listing, err := t.run(ctx, "", "-s", "list", "table", nftFamily(family), tableName)
	if err != nil {
		return "", err
	}
	hash := sha256.New()
	for line := range stable(string(listing)) {
		fmt.Fprintln(hash, line)
	}
	return hex.EncodeToString(hash.Sum(nil)), nil
}

// stable iterates over the lines of a listing, without the clients that have an affinity to an endpoint: packets change these.
func stable(listing string) func(func(string) bool) {
	return func(yield func(string) bool) {
		affinity := false
		for line := range strings.Lines(listing) {
			line = strings.TrimSpace(line)
			if strings.HasPrefix(line, "set affinity-") {
				affinity = true
			}
			if affinity {
				affinity = line != "}"
				continue
			}
			if !yield(line) {
				return
			}
		}
	}
}

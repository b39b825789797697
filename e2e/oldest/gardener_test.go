package oldest

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"

	"github.com/trellis-garden/trellis/e2e/internal/repo"
)

// gardener returns the version of the oldest Gardener, and the folder of its source.
func gardener(ctx context.Context) (version, dir string, err error) {
	pin, err := repo.Path("e2e", "oldest", "gardener")
	if err != nil {
		return "", "", err
	}
	cmd := exec.CommandContext(ctx, "go", "mod", "download", "-json", "github.com/gardener/gardener")
	cmd.Dir = pin
	cmd.Env = append(os.Environ(), "GOWORK=off")
	output, err := cmd.Output()
	if err != nil {
		return "", "", fmt.Errorf("downloading the oldest Gardener: %w: %s", err, output)
	}
	var module struct{ Version, Dir string }
	if err := json.Unmarshal(output, &module); err != nil {
		return "", "", fmt.Errorf("reading where the oldest Gardener is: %w", err)
	}
	return module.Version, module.Dir, nil
}

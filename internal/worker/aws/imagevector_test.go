package aws_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/trellis-garden/trellis/internal/contract/images"
	"github.com/trellis-garden/trellis/internal/worker/aws"
)

func TestImageVector(t *testing.T) {
	vector, err := images.Read(aws.ImageVector())
	require.NoError(t, err)
	image, err := images.ForTrellisVersion(vector, "v0.1.0")("machine-controller-manager-provider-" + aws.Type)
	require.NoError(t, err)
	assert.Equal(t, "ghcr.io/trellis-garden/trellis/machine-controller-aws:v0.1.0", image)
}

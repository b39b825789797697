package aws_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/trellis-garden/trellis/internal/cloud"
	"github.com/trellis-garden/trellis/internal/cloud/aws"
)

func TestInstanceReason_Err(t *testing.T) {
	for code, want := range map[string]cloud.Kind{
		"Server.InsufficientInstanceCapacity": cloud.Depleted,
		"Client.VolumeLimitExceeded":          cloud.QuotaExceeded,
		"Client.InvalidSnapshot.NotFound":     cloud.NotFound,
		"Server.InternalError":                cloud.Unavailable,
		"Server.SpotInstanceTermination":      cloud.Unknown,
		"":                                    cloud.Unknown,
	} {
		err := aws.InstanceReason{Code: code, Message: code + ": it is so"}.Err()
		assert.Equal(t, want, cloud.KindOf(err), code)
		assert.ErrorContains(t, err, "it is so")
	}
}

func TestSession_CreateInstance_UnusableResponse(t *testing.T) {
	session, _ := newSession(t, answer("RunInstances", "<instancesSet></instancesSet>"))
	_, err := session.CreateInstance(t.Context(), aws.InstanceCreate{Token: "one"})
	assert.Equal(t, cloud.Unavailable, cloud.KindOf(err))
	session, _ = newSession(t, answer("DescribeImages", "<imagesSet></imagesSet>"))
	_, err = session.GetImage(t.Context(), "ami-1")
	assert.True(t, cloud.IsNotFound(err))
}

package machine

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/gardener/machine-controller-manager/pkg/util/provider/machinecodes/codes"
	"github.com/gardener/machine-controller-manager/pkg/util/provider/machinecodes/status"
	"github.com/stretchr/testify/require"

	"github.com/trellis-garden/trellis/internal/cloud"
)

func TestErrors(t *testing.T) {
	refusedValue := errors.New("a refused value")
	translate := Errors{
		IsBadRequest: func(err error) bool { return errors.Is(err, refusedValue) },
		Remedies:     map[cloud.Kind]string{cloud.QuotaExceeded: "raise the quota"},
	}
	for sentence, test := range map[string]struct {
		err    error
		want   codes.Code
		remedy string
	}{
		"an invalid configuration": {cloud.Errorf(cloud.Configuration, "x"), codes.InvalidArgument, ""},
		"wrong credentials":        {cloud.Errorf(cloud.Unauthenticated, "x"), codes.Unauthenticated, ""},
		"a missing role":           {cloud.Errorf(cloud.Unauthorized, "x"), codes.PermissionDenied, ""},
		"a quota":                  {cloud.Errorf(cloud.QuotaExceeded, "x"), codes.ResourceExhausted, "raise the quota"},
		"no free address":          {cloud.Errorf(cloud.Depleted, "x"), codes.ResourceExhausted, ""},
		"too many requests":        {cloud.Errorf(cloud.RateLimited, "x"), codes.Unavailable, ""},
		"an outage":                {cloud.Errorf(cloud.Unavailable, "x"), codes.Unavailable, ""},
		"a missing resource":       {cloud.Errorf(cloud.NotFound, "x"), codes.InvalidArgument, missingRemedy},
		"a conflict":               {cloud.Errorf(cloud.Conflict, "x"), codes.Aborted, ""},
		"a resource in use":        {cloud.Errorf(cloud.InUse, "x"), codes.Aborted, ""},
		"a refused value":          {cloud.Errorf(cloud.Unknown, "x: %w", refusedValue), codes.InvalidArgument, badRequestRemedy},
		"an unexpected response":   {cloud.Errorf(cloud.Unknown, "x"), codes.Unknown, ""},
		"another error":            {errors.New("x"), codes.Unknown, ""},
		"a deadline":               {fmt.Errorf("x: %w", context.DeadlineExceeded), codes.DeadlineExceeded, ""},
		"a canceled request":       {fmt.Errorf("x: %w", context.Canceled), codes.Aborted, ""},
		"an error of the driver":   {fmt.Errorf("x: %w", Failuref(codes.AlreadyExists, "y")), codes.AlreadyExists, ""},
		"brackets in the text":     {errors.New("a [b] c] d"), codes.Unknown, ""},
	} {
		t.Run(sentence, func(t *testing.T) {
			err := translate.MCM("create machine", test.err)
			decoded, _ := status.FromError(err)
			require.Equal(t, test.want, decoded.Code(), "as MCM reads it")
			require.Equal(t, test.want, CodeOf(err))
			require.Equal(t, test.want, translate.Code(test.err))
			require.ErrorContains(t, err, "create machine: ")
			require.ErrorContains(t, err, test.remedy)
		})
	}
	require.NoError(t, translate.MCM("x", nil))
	require.Equal(t, codes.OK, CodeOf(nil))
	require.Len(t, codesByKind(), int(cloud.InUse)+1, "each kind has its code")
	require.True(t, translate.Refused(cloud.Errorf(cloud.Unknown, "x: %w", refusedValue)))
	require.True(t, translate.Refused(cloud.Errorf(cloud.QuotaExceeded, "x")))
	require.False(t, translate.Refused(cloud.Errorf(cloud.Unavailable, "x")))
}

package conformance

import (
	"cmp"
	"context"
	"os"
	"time"

	"github.com/trellis-garden/trellis/internal/cloud/aws"
	"github.com/trellis-garden/trellis/internal/cloud/aws/auth"
)

// Account is an AWS account in a region.
type Account struct {
	// Endpoint is the address of a fake; empty for AWS itself.
	Endpoint     string
	Region, Zone string
	Credentials  auth.Credentials
	// Timeout bounds waits.
	Timeout time.Duration
	// QPS limits the rate of requests; 0 means the client's default, and a negative one no limit.
	QPS float64
}

// FromEnvironment returns the account that the environment names by the variables of AWS' own tools (AWS_REGION, AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY,
// AWS_ENDPOINT_URL), and TRELLIS_AWS_CONFORMANCE, which says that the checks may use it. It creates and deletes resources there, some of which cost money.
func FromEnvironment() (account Account, found bool) {
	if os.Getenv("TRELLIS_AWS_CONFORMANCE") == "" {
		return Account{}, false
	}
	region := os.Getenv("AWS_REGION")
	return Account{
		Endpoint: os.Getenv("AWS_ENDPOINT_URL"), Region: region, Zone: cmp.Or(os.Getenv("TRELLIS_AWS_ZONE"), region+"a"), Timeout: 10 * time.Minute,
		Credentials: auth.Credentials{AccessKeyID: os.Getenv("AWS_ACCESS_KEY_ID"), SecretAccessKey: os.Getenv("AWS_SECRET_ACCESS_KEY")},
	}, true
}

func (a Account) session(ctx context.Context) (*aws.Session, error) {
	return aws.NewSessions(aws.Options{Endpoint: a.Endpoint, QPS: a.QPS}).Get(ctx, a.Credentials, a.Region)
}

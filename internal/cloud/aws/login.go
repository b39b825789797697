package aws

import (
	"context"
	"net/url"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"

	"github.com/trellis-garden/trellis/internal/cloud"
	"github.com/trellis-garden/trellis/internal/cloud/aws/auth"
	"github.com/trellis-garden/trellis/internal/cloud/login"
	"github.com/trellis-garden/trellis/internal/cloud/transport"
)

// roleSessionName names the sessions of a role in AWS' log of requests (CloudTrail).
const roleSessionName = "trellis"

// staticCredentials sign with an access key.
func staticCredentials(credentials auth.Credentials) aws.CredentialsProvider {
	key := aws.Credentials{AccessKeyID: credentials.AccessKeyID, SecretAccessKey: credentials.SecretAccessKey, Source: "Secret"}
	return aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) { return key, nil })
}

// roleCredentials sign with the temporary key of a role.
func roleCredentials(logins *login.Source[aws.Credentials]) aws.CredentialsProvider {
	return aws.CredentialsProviderFunc(func(ctx context.Context) (aws.Credentials, error) {
		current, err := logins.Valid(ctx)
		if err != nil {
			return aws.Credentials{}, err
		}
		return current.Value, nil
	})
}

// roleLogin assumes a role with the token of a workload identity.
type roleLogin struct {
	client      *client
	credentials auth.Credentials
	metrics     *cloud.Metrics
}

func (r *roleLogin) login(ctx context.Context) (*login.Login[aws.Credentials], error) {
	issued, err := r.assume(ctx)
	r.metrics.Login(err)
	return issued, err
}

func (r *roleLogin) assume(ctx context.Context) (*login.Login[aws.Credentials], error) {
	to := stsService()
	o := to.operation("AssumeRoleWithWebIdentity", reads)
	var issued struct {
		AccessKeyID     string    `xml:"AssumeRoleWithWebIdentityResult>Credentials>AccessKeyId"`
		SecretAccessKey string    `xml:"AssumeRoleWithWebIdentityResult>Credentials>SecretAccessKey"`
		SessionToken    string    `xml:"AssumeRoleWithWebIdentityResult>Credentials>SessionToken"`
		Expiration      time.Time `xml:"AssumeRoleWithWebIdentityResult>Credentials>Expiration"`
	}
	parameters := url.Values{
		"RoleArn": {r.credentials.RoleARN}, "RoleSessionName": {roleSessionName}, "WebIdentityToken": {r.credentials.Token},
	}
	if err := r.client.query(transport.WithInfo(ctx, o.info()), to, o, parameters, &issued); err != nil {
		return nil, classify(o, err)
	}
	if issued.AccessKeyID == "" {
		return nil, cloud.Errorf(cloud.Unavailable, "assuming role %s: the response has no credentials", r.credentials.RoleARN)
	}
	// Lifetimes are the cloud's, of an hour by default; the end is given as a time of its clock.
	return login.New(aws.Credentials{
		AccessKeyID: issued.AccessKeyID, SecretAccessKey: issued.SecretAccessKey, SessionToken: issued.SessionToken, Source: o.name,
	}, max(time.Until(issued.Expiration), time.Minute)), nil
}

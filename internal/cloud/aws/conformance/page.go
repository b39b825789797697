package conformance

import (
	"fmt"
	"strings"
)

// Page returns the list of behaviours with their sources, in Markdown.
func Page() string {
	var b strings.Builder
	behaviours, unsourced := 0, 0
	for _, area := range Areas() {
		for _, one := range area.Behaviours {
			behaviours++
			if one.Source == Judgement {
				unsourced++
			}
		}
	}
	fmt.Fprintf(&b, `<!-- Generated from internal/cloud/aws/conformance. Do not edit. -->

# What Trellis relies on in AWS

%d behaviours of EC2, IAM and Elastic Load Balancing. Each is checked by our client over HTTP against the fake, and can be checked against a real account:

`+"```sh"+`
TRELLIS_AWS_CONFORMANCE=1 AWS_REGION=eu-west-1 AWS_ACCESS_KEY_ID=... AWS_SECRET_ACCESS_KEY=... \
  go test -count=1 -timeout 2h -v -run TestAccount ./internal/cloud/aws/conformance
`+"```"+`

That creates and deletes resources in the account, some of which cost money: NAT gateways and elastic IPs. A source says that AWS documents a behaviour, or that others saw it.
No real account has been tried so far. Behaviours for which we have found no source are our judgement: %d.
`, behaviours, unsourced)
	for _, area := range Areas() {
		fmt.Fprintf(&b, "\n## %s\n\n| Behaviour | Source |\n|---|---|\n", strings.ToUpper(area.Name[:1])+area.Name[1:])
		for _, one := range area.Behaviours {
			fmt.Fprintf(&b, "| %s | %s |\n", one.Name, one.Source.markdown())
		}
	}
	return b.String()
}

// markdown names a page by the last part of its address.
func (s Source) markdown() string {
	if s == Judgement {
		return string(s)
	}
	if repository, number, found := strings.Cut(strings.TrimPrefix(string(s), "https://github.com/"), "/issues/"); found {
		return fmt.Sprintf("[%s #%s](%s)", repository, number, s)
	}
	title := strings.TrimSuffix(string(s)[strings.LastIndex(string(s), "/")+1:], ".html")
	return fmt.Sprintf("[%s](%s)", strings.TrimPrefix(title, "API_"), s)
}

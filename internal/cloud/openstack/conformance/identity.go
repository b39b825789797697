package conformance

func logins() []Behaviour {
	return []Behaviour{}
}

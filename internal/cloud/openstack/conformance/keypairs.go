package conformance

func keyPairs() []Behaviour {
	return []Behaviour{}
}

package sim

// CheckStrategy returns an error that says which strategies there are when none has the name.
func CheckStrategy(name string) error {
	if _, search := searchNamed(name); search {
		return nil
	}
	_, err := strategyNamed(name, measured{})
	return err
}

package export

import "fmt"

// WriteLabels writes one line "id TAB label" per vertex, with the compression
// that the file's name says and the same guarantees as a graph file. ids nil
// means vertex numbers.
func WriteLabels(path string, labels []int, ids func(i int64) string) error {
	_, compression := splitCompression(path)
	out, err := createFile(path, compression)
	if err != nil {
		return err
	}
	rows := snapRows{out}
	for i, label := range labels {
		if ids == nil {
			err = rows.numbers(int64(i), int64(label))
		} else if id := ids(int64(i)); id == "" {
			err = fmt.Errorf("vertex %d has an empty identifier", i)
		} else {
			err = rows.names(id, fmt.Sprint(label))
		}
		if err != nil {
			out.abort()
			return fmt.Errorf("export: %s was not written: %w", path, err)
		}
	}
	return rows.finish()
}

"""What lowering evaluates expressions with: values of whole columns, and the rows that they leave."""

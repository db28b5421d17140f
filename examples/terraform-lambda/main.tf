# A queue whose failures go to a dead-letter queue after three receives, and a function that works
# it off. `endpoint` is all that is particular to this server.

terraform {
  required_providers {
    aws = { source = "hashicorp/aws" }
  }
}

variable "endpoint" {
  type    = string
  default = "http://127.0.0.1:9324"
}

# raising.handler or deleting.handler
variable "handler" {
  type    = string
  default = "raising.handler"
}

provider "aws" {
  region     = "us-east-1"
  access_key = "test"
  secret_key = "test"
  endpoints {
    sqs    = var.endpoint
    iam    = var.endpoint
    sts    = var.endpoint
    lambda = var.endpoint
  }
}

resource "aws_sqs_queue" "main_queue" {
  name                       = "main-queue"
  delay_seconds              = 0
  max_message_size           = 262144
  message_retention_seconds  = 345600 # 4 days
  visibility_timeout_seconds = 30
  redrive_policy = jsonencode({
    deadLetterTargetArn = aws_sqs_queue.dlq.arn
    maxReceiveCount     = 3
  })
  tags = { Environment = "production" }
}

resource "aws_sqs_queue" "dlq" {
  name                      = "dlq"
  delay_seconds             = 0
  max_message_size          = 262144
  message_retention_seconds = 1209600 # 14 days
  tags                      = { Environment = "production" }
}

resource "aws_iam_role" "lambda_role" {
  name = "lambda_role"
  assume_role_policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Action    = "sts:AssumeRole"
      Effect    = "Allow"
      Principal = { Service = "lambda.amazonaws.com" }
    }]
  })
}

resource "aws_iam_role_policy_attachment" "sqs" {
  role       = aws_iam_role.lambda_role.name
  policy_arn = "arn:aws:iam::aws:policy/AmazonSQSFullAccess"
}

resource "aws_iam_role_policy_attachment" "basic_execution" {
  role       = aws_iam_role.lambda_role.name
  policy_arn = "arn:aws:iam::aws:policy/service-role/AWSLambdaBasicExecutionRole"
}

resource "aws_lambda_function" "sqs_processor" {
  function_name    = "sqs-processor"
  handler          = var.handler
  runtime          = "python3.11"
  role             = aws_iam_role.lambda_role.arn
  timeout          = 25
  filename         = "${path.module}/lambda_function_payload.zip"
  source_code_hash = filebase64sha256("${path.module}/lambda_function_payload.zip")
  environment {
    variables = { QUEUE_URL = aws_sqs_queue.main_queue.id }
  }
}

resource "aws_lambda_event_source_mapping" "main" {
  event_source_arn = aws_sqs_queue.main_queue.arn
  function_name    = aws_lambda_function.sqs_processor.arn
  batch_size       = 10
}
